"""Agreement, intervals and models of raters on plain NumPy arrays.

Labels are codes 0, 1, 2, …; -1 is a missing rating. Every statistic returns an `Estimate`. Those of many raters read
`Counts` (`count_wide`, `count_long`, `count_table`), those of two raters read a `Cross` (`cross`, `cross_table`).
"""

from evenhand.statistics.alpha import krippendorff_alpha as krippendorff_alpha
from evenhand.statistics.confusion import Cross as Cross
from evenhand.statistics.confusion import cross as cross
from evenhand.statistics.confusion import cross_table as cross_table
from evenhand.statistics.confusion import label_agreement as label_agreement
from evenhand.statistics.confusion import macro_f1 as macro_f1
from evenhand.statistics.confusion import mean_over_labels as mean_over_labels
from evenhand.statistics.confusion import pair_percent as pair_percent
from evenhand.statistics.confusion import pair_within_one as pair_within_one
from evenhand.statistics.correlation import spearman as spearman
from evenhand.statistics.counts import Spread as Spread
from evenhand.statistics.counts import count_long as count_long
from evenhand.statistics.counts import count_table as count_table
from evenhand.statistics.counts import count_wide as count_wide
from evenhand.statistics.counts import percent_agreement as percent_agreement
from evenhand.statistics.counts import rare_agreement as rare_agreement
from evenhand.statistics.counts import specific_agreement as specific_agreement
from evenhand.statistics.counts import spread as spread
from evenhand.statistics.estimate import MISSING as MISSING
from evenhand.statistics.estimate import BoolArray as BoolArray
from evenhand.statistics.estimate import Estimate as Estimate
from evenhand.statistics.estimate import FloatArray as FloatArray
from evenhand.statistics.estimate import IntArray as IntArray
from evenhand.statistics.estimate import undefined as undefined
from evenhand.statistics.icc import icc as icc
from evenhand.statistics.intervals.analytic import mean as mean
from evenhand.statistics.intervals.analytic import proportion as proportion
from evenhand.statistics.intervals.analytic import wilson as wilson
from evenhand.statistics.intervals.bootstrap import DEFAULT as DEFAULT
from evenhand.statistics.intervals.bootstrap import Resampling as Resampling
from evenhand.statistics.intervals.bootstrap import Sample as Sample
from evenhand.statistics.intervals.bootstrap import first_over_second as first_over_second
from evenhand.statistics.intervals.bootstrap import ratio as ratio
from evenhand.statistics.kappa import agreement_weights as agreement_weights
from evenhand.statistics.kappa import cohen_kappa as cohen_kappa
from evenhand.statistics.kappa import fleiss_kappa as fleiss_kappa
from evenhand.statistics.kappa import gwet_ac as gwet_ac
from evenhand.statistics.majority import Votes as Votes
from evenhand.statistics.majority import majority_label as majority_label
from evenhand.statistics.majority import majority_of as majority_of
from evenhand.statistics.majority import match_with as match_with
from evenhand.statistics.majority import match_with_majority as match_with_majority
from evenhand.statistics.majority import votes as votes
from evenhand.statistics.models.alt_test import AltTest as AltTest
from evenhand.statistics.models.alt_test import alt_test_beside_constant as alt_test_beside_constant
from evenhand.statistics.models.calibration import Bin as Bin
from evenhand.statistics.models.calibration import Calibration as Calibration
from evenhand.statistics.models.calibration import calibration as calibration
from evenhand.statistics.models.dawid_skene import dawid_skene as dawid_skene
from evenhand.statistics.models.paired_comparison import Comparison as Comparison
from evenhand.statistics.models.paired_comparison import compare_means as compare_means
from evenhand.statistics.models.paired_comparison import compare_raters as compare_raters
from evenhand.statistics.models.paired_comparison import compare_shares as compare_shares
from evenhand.statistics.models.prediction_powered import PredictionPowered as PredictionPowered
from evenhand.statistics.models.prediction_powered import Weight as Weight
from evenhand.statistics.models.prediction_powered import ppi_labels as ppi_labels
from evenhand.statistics.models.prediction_powered import ppi_mean as ppi_mean
from evenhand.statistics.models.prediction_powered import ppi_proportion as ppi_proportion
from evenhand.statistics.models.severity import drift as drift
from evenhand.statistics.models.severity import leniency as leniency
from evenhand.statistics.models.severity import severities as severities
from evenhand.statistics.pairs import pair_statistics as pair_statistics
