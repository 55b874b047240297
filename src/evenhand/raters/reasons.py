"""Why a reply cannot be used: the whole vocabulary, in one place. Reports count failures by these words."""

EMPTY = "empty reply"
REFUSED = "refused"
TRUNCATED = "truncated"
NOT_JSON = "not JSON"
NOT_AN_OBJECT = "not a JSON object"
MORE_THAN_ONE = "more than one answer"
LEFT_OUT = "left out of the reply"

NO_ANSWER = "no answer on {criterion}"
OFF_SCALE = "answer on {criterion} is not on its scale"
WRONG_TYPE = "answer on {criterion} has the wrong type"
TWO_ANSWERS = "more than one answer on {criterion}"
NO_RATIONALE = "no rationale for {criterion}"
NO_EVIDENCE = "no evidence for {criterion}"

NO_CONFIDENCE = "no confidence"
BAD_CONFIDENCE = "confidence is not a percentage"
NO_NOTES = "no notes"

REASONS = (
    EMPTY,
    REFUSED,
    TRUNCATED,
    NOT_JSON,
    NOT_AN_OBJECT,
    MORE_THAN_ONE,
    LEFT_OUT,
    NO_ANSWER,
    OFF_SCALE,
    WRONG_TYPE,
    TWO_ANSWERS,
    NO_RATIONALE,
    NO_EVIDENCE,
    NO_CONFIDENCE,
    BAD_CONFIDENCE,
    NO_NOTES,
)
"""Every reason; `{criterion}` stands for a criterion's id."""
