"""Agreement, intervals and models of raters on plain NumPy arrays.

Labels are codes 0, 1, 2, …; -1 is a missing rating. Every statistic returns an `Estimate`. Those of many raters read
`Counts` (`count_wide`, `count_long`, `count_table`), those of two raters read a `Cross` (`cross`, `cross_table`).
"""

from evenhand.statistics.alpha import krippendorff_alpha, squared_differences
from evenhand.statistics.arrays import (
    MISSING,
    AnyInts,
    BoolArray,
    FloatArray,
    IntArray,
    agreement_weights,
    first_over_second,
    one_hot,
    ratio,
)
from evenhand.statistics.confusion import (
    Cross,
    cross,
    cross_table,
    label_agreement,
    macro_f1,
    pair_percent,
    pair_within_one,
)
from evenhand.statistics.correlation import spearman
from evenhand.statistics.counts import Counts, count_long, count_table, count_wide, percent_agreement
from evenhand.statistics.estimate import NO_RATINGS, Estimate, undefined
from evenhand.statistics.gwet import gwet_ac
from evenhand.statistics.icc import icc
from evenhand.statistics.intervals.analytic import error_of_mean, mean, proportion, wilson
from evenhand.statistics.intervals.bootstrap import DEFAULT, Resampling, Sample, Statistic
from evenhand.statistics.intervals.verdicts import Verdict, more_items, more_items_for_share, verdict
from evenhand.statistics.kappa import cohen_kappa, fleiss_kappa
from evenhand.statistics.labels import Spread, rare_agreement, specific_agreement, spread
from evenhand.statistics.majority import MajorityMatch, Votes, majority_label, majority_of, match_with_majority, votes
from evenhand.statistics.models.alt_test import AltTest, alt_test, alt_test_beside_constant
from evenhand.statistics.models.calibration import Bin, Calibration, calibration
from evenhand.statistics.models.dawid_skene import Consensus, dawid_skene
from evenhand.statistics.models.paired_comparison import Comparison, compare_means, compare_raters, compare_shares
from evenhand.statistics.models.prediction_powered import (
    PredictionPowered,
    Weight,
    ppi_labels,
    ppi_mean,
    ppi_proportion,
    tuned_weight,
)
from evenhand.statistics.models.severity import Severities, drift, leniency, severities
from evenhand.statistics.pairs import pair_statistics

__all__ = [
    "DEFAULT",
    "MISSING",
    "NO_RATINGS",
    "AltTest",
    "AnyInts",
    "Bin",
    "BoolArray",
    "Calibration",
    "Comparison",
    "Consensus",
    "Counts",
    "Cross",
    "Estimate",
    "FloatArray",
    "IntArray",
    "MajorityMatch",
    "PredictionPowered",
    "Resampling",
    "Sample",
    "Severities",
    "Spread",
    "Statistic",
    "Verdict",
    "Votes",
    "Weight",
    "agreement_weights",
    "alt_test",
    "alt_test_beside_constant",
    "calibration",
    "cohen_kappa",
    "compare_means",
    "compare_raters",
    "compare_shares",
    "count_long",
    "count_table",
    "count_wide",
    "cross",
    "cross_table",
    "dawid_skene",
    "drift",
    "error_of_mean",
    "first_over_second",
    "fleiss_kappa",
    "gwet_ac",
    "icc",
    "krippendorff_alpha",
    "label_agreement",
    "leniency",
    "macro_f1",
    "majority_label",
    "majority_of",
    "match_with_majority",
    "mean",
    "more_items",
    "more_items_for_share",
    "one_hot",
    "pair_percent",
    "pair_statistics",
    "pair_within_one",
    "percent_agreement",
    "ppi_labels",
    "ppi_mean",
    "ppi_proportion",
    "proportion",
    "rare_agreement",
    "ratio",
    "severities",
    "spearman",
    "specific_agreement",
    "spread",
    "squared_differences",
    "tuned_weight",
    "undefined",
    "verdict",
    "votes",
    "wilson",
]
