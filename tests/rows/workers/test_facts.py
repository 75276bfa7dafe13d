"""What is known of partitions."""

import numpy as np
import pytest

from isrht.rows.workers._facts import Partition, PartitionFacts

DENSE = Partition(4, 3, np.dtype(np.float32), False, 12, 0.0)
EMPTY = Partition(0, 1, np.dtype(np.float64), True, 0, 0.0)


def test_facts_of_all_partitions_together():
    facts = PartitionFacts.of([EMPTY, DENSE, DENSE._replace(n_rows=6, dtype=np.dtype(np.float64), nnz=18, pairs=2.5)])
    assert facts.sizes == [0, 4, 6]
    assert facts.shape == (10, 3)
    assert facts.dtype == np.float64
    assert (facts.sparse, facts.nnz, facts.pairs) == (False, 30, 2.5)


@pytest.mark.parametrize(
    ("partitions", "message"),
    [
        ([EMPTY, EMPTY], "X has no rows"),
        ([EMPTY, DENSE, DENSE._replace(n_features=7)], "block 2: it has 7 features, but the blocks before have 3"),
        ([EMPTY, DENSE, DENSE._replace(sparse=True)], "block 2: some blocks are sparse, and some are not"),
    ],
)
def test_partitions_that_do_not_match_are_named(partitions, message):
    with pytest.raises(ValueError, match=message):
        PartitionFacts.of(partitions)


def test_fewer_rows_store_fewer_values():
    facts = PartitionFacts.of([DENSE._replace(sparse=True, pairs=8.0), DENSE._replace(sparse=True, pairs=8.0)])
    fewer = facts.changed(sizes=[1, 1])
    assert fewer.shape == (2, 3)
    assert (fewer.nnz, fewer.pairs) == (6, 4.0)
    other = facts.changed(n_features=5, sparse=False)
    assert other.shape == (8, 5)
    assert (other.sparse, other.nnz) == (False, 24)
    assert facts.shape == (8, 3)
