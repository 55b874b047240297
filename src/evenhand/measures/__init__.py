"""Protocol and ratings → the protocol's own figures, each with its interval, its counts and, where undefined, why.

`compute` goes through the protocol's measures. `series` carries those that belong to one rater (means, proportions,
answers), `pairs` those between two, `votes` those of all, `classification` those that need no rating. `goals` holds
figures against targets; `as_json` writes them down.
"""

from evenhand.measures.as_json import measures_json, statistic, targets_json
from evenhand.measures.compute import measures
from evenhand.measures.goals import TargetResult, targets
from evenhand.measures.record import Measure

__all__ = ["Measure", "TargetResult", "measures", "measures_json", "statistic", "targets", "targets_json"]
