import numpy as np

from evenhand.agreement.blocks import cluster_blocks, single_blocks, unique_rows


def test_unique_rows_give_back_the_table() -> None:
    table = np.array([[1, 0, 2], [0, 0, 0], [1, 0, 2], [3, 1, 0]])
    rows, inverse, times = unique_rows(table)
    assert np.array_equal(rows[inverse], table)
    assert sorted(times.tolist()) == [1, 1, 2]


def test_unique_rows_too_wide_for_one_number() -> None:
    table = np.random.default_rng(0).integers(0, 1000, size=(50, 12))
    table[10] = table[3]
    rows, inverse, times = unique_rows(table)
    assert np.array_equal(rows[inverse], table)
    assert len(rows) == 49
    assert times.max() == 2


def test_clusters_of_the_same_patterns_become_one_kind() -> None:
    # Clusters 7 and 9 both hold patterns {0, 1}, in another order; cluster 8 holds {0, 0}.
    patterns = np.array([0, 1, 0, 0, 1, 0])
    clusters = np.array([7, 7, 8, 8, 9, 9])
    blocks = cluster_blocks(patterns, clusters)
    assert sorted(blocks.times.tolist()) == [1, 2]
    assert blocks.n == 3
    folded = blocks.fold(np.array([[1.0, 0.0], [0.0, 1.0]]))
    assert sorted(folded.tolist()) == [[1.0, 1.0], [2.0, 0.0]]


def test_folding_keeps_the_totals() -> None:
    generator = np.random.default_rng(1)
    patterns, clusters = generator.integers(0, 6, size=300), generator.integers(0, 80, size=300)
    sums = generator.normal(size=(6, 3))
    blocks = cluster_blocks(patterns, clusters)
    assert blocks.n == len(set(clusters.tolist()))
    assert np.allclose(blocks.times @ blocks.fold(sums), sums[patterns].sum(axis=0))


def test_single_blocks_fold_to_themselves() -> None:
    sums = np.arange(6.0).reshape(3, 2)
    assert single_blocks(np.array([4, 1, 2])).fold(sums) is sums
