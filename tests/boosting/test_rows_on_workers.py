"""What boosting keeps on the workers of a cluster, against what it keeps in memory."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

pytest.importorskip("distributed")
da = pytest.importorskip("dask.array")

from boosting_data import two_classes  # noqa: E402 -- it follows what is needed

from isrht.boosting._places import learned_rows  # noqa: E402
from isrht.boosting._roles import Roles  # noqa: E402
from isrht.boosting._rows_on_workers import _appended  # noqa: E402
from isrht.rows.entry import as_rows  # noqa: E402
from isrht.rows.workers.pieces import Piece  # noqa: E402

FOLDS = np.zeros(2, dtype=np.int64)


@pytest.fixture
def both():
    """The same rows on workers, in partitions of uneven size, and in memory; without columns yet."""
    X, y = two_classes()
    on_workers = as_rows(da.concatenate([da.from_array(part, chunks=part.shape) for part in (X[:7], X[7:80], X[80:])]))
    weights = np.random.default_rng(0).random(len(y))
    there = Roles(on_workers.row_values(y), 2, None, None, on_workers.row_values(weights)).all_training()
    here = Roles(y, 2, None, None, weights).all_training()
    return (on_workers, learned_rows(on_workers, there, FOLDS, 3)), (X, learned_rows(X, here, FOLDS, 3))


def write_products(X, rows):
    """Write the sum of each row to the first column of the second path."""
    rows.columns[0, 1] = X.sum(axis=1)


def weighted_column(rows):
    return rows.training_weights(1) @ rows.columns_of(1, 1), rows.training_weights(1) @ rows.Y


def test_columns_are_written_and_summed_where_the_rows_are(both):
    for X, rows in both:
        rows.append(X, write_products, 1)
    (there, here) = (rows.sum(weighted_column) for _, rows in both)
    assert np.abs(here[0]).max() > 1
    for one, other in zip(there, here, strict=True):
        assert_allclose(one, other)


def test_the_client_has_no_columns(both):
    (_, rows), _ = both
    assert rows.columns is None
    assert len(rows.kept) == 1  # three small partitions, one piece


def test_a_task_that_runs_twice_finds_the_rows_as_they_were(both):
    _, (X, rows) = both
    (new,) = _appended(write_products, 50, lambda X: Piece.held([0], [X]), X, [rows])
    assert_array_equal(new.columns[0, 1], X.sum(axis=1))
    assert not rows.columns.any()
