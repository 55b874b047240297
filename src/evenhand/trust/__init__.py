"""How far each rater can be trusted on a criterion. People are the yardstick; a person is held against the others."""

from evenhand.trust.build import ModelTrust, Trust, trust
from evenhand.trust.comparison import Compared, compare, compare_raters
from evenhand.trust.confidence import Confidence
from evenhand.trust.disputes import Disputed, DisputedTogether, disputed, disputed_together
from evenhand.trust.powered import Powered
from evenhand.trust.severity import Severity
from evenhand.trust.stand_in import StandIn
from evenhand.trust.standing import Against, Standing
from evenhand.trust.words import in_words

__all__ = [
    "Against",
    "Compared",
    "Confidence",
    "Disputed",
    "DisputedTogether",
    "ModelTrust",
    "Powered",
    "Severity",
    "StandIn",
    "Standing",
    "Trust",
    "compare",
    "compare_raters",
    "disputed",
    "disputed_together",
    "in_words",
    "trust",
]
