"""How far each rater can be trusted on a criterion. People are the yardstick; a person is compared with the others."""

from evenhand.analysis.trust.build import ModelTrust, Trust, trust
from evenhand.analysis.trust.confidence import Confidence
from evenhand.analysis.trust.powered import Powered
from evenhand.analysis.trust.severity import Severity
from evenhand.analysis.trust.stand_in import StandIn
from evenhand.analysis.trust.standing import Against, Standing
from evenhand.analysis.trust.words import in_words

__all__ = [
    "Against",
    "Confidence",
    "ModelTrust",
    "Powered",
    "Severity",
    "StandIn",
    "Standing",
    "Trust",
    "in_words",
    "trust",
]
