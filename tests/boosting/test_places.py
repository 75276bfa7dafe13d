"""What is learned of rows is kept where the rows are."""

import numpy as np
import pytest

from isrht import RowSource
from isrht.boosting._places import learned_rows
from isrht.boosting._roles import Roles
from isrht.boosting._rows import FiledRows, LearnedRows
from isrht.rows.entry import as_rows

FOLDS = np.zeros(3, dtype=np.int64)


@pytest.fixture
def roles():
    return Roles(np.arange(20) % 2, 2, np.ones((20, 1)), np.zeros((20, 1)))


def test_in_memory(roles):
    rows = learned_rows(np.ones((20, 4)), roles, FOLDS, 5)
    assert type(rows) is LearnedRows
    assert not rows.elsewhere
    assert rows.columns.shape == (5, 3, 20)
    assert not rows.columns.any()
    assert rows.roles.codes.dtype == np.uint8  # small: they are read in every round


def test_in_a_file(roles):
    X = np.ones((20, 4))
    source = as_rows(RowSource([(X, np.arange(20) % 2)]))
    rows = learned_rows(source, roles, FOLDS, 5)
    assert type(rows) is FiledRows
    assert rows.elsewhere
    assert rows.columns.shape == (5, 3, 20)


def test_on_workers(roles):
    pytest.importorskip("distributed")
    da = pytest.importorskip("dask.array")
    from isrht.boosting._rows_on_workers import LearnedWorkerRows

    X = as_rows(da.ones((20, 4), chunks=(10, 4)))
    roles = Roles(X.row_values(roles.codes), 2, None, None).all_training()
    rows = learned_rows(X, roles, FOLDS, 5)
    assert type(rows) is LearnedWorkerRows
    assert rows.elsewhere
