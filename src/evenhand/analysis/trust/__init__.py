"""How far each rater can be trusted on a criterion. People are the yardstick; a person is compared with the others."""

from evenhand.analysis.trust.build import MEAN, ModelTrust, Powered, StandIn, Trust, trust
from evenhand.analysis.trust.raters import Against, Confidence, Severity, Standing
from evenhand.analysis.trust.sentences import in_words

__all__ = [
    "MEAN",
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
