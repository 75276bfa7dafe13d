import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_array_equal
from sklearn.preprocessing import MaxAbsScaler, MinMaxScaler

from isrht import RowSource
from isrht.rows.blocks import RowBlocks
from isrht.rows.scaling import extremes, fit_scaler


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("convert", [np.asarray, sp.csr_array])
@pytest.mark.parametrize("weighted", [False, True])
def test_scalers_are_those_of_all_rows_at_once(convert, dtype, weighted, rng):
    X = (rng.standard_normal((500, 9)) * (rng.random((500, 9)) < 0.5)).astype(dtype)
    X[:, 3], X[:, 4], X[499] = 0, 7, 100
    weights = (np.arange(500) < 400).astype(float) if weighted else None
    source = RowSource([convert(part) for part in np.array_split(X, 7)])
    for scaler in (MaxAbsScaler, MinMaxScaler) if convert is np.asarray else (MaxAbsScaler,):
        expected = scaler().fit(convert(X[:400] if weighted else X))
        got = fit_scaler(scaler(), source, weights)
        assert got.n_samples_seen_ == expected.n_samples_seen_
        assert_array_equal(got.scale_, expected.scale_)
        assert got.scale_.dtype == expected.scale_.dtype


@pytest.mark.parametrize("convert", [np.asarray, sp.csr_array])
def test_blocks_without_a_row_that_counts_have_no_extremes(convert):
    """All values are far from zero, which must not pass for the extreme of a block without rows."""
    X = np.arange(90.0).reshape(30, 3) + 100
    weights = np.zeros(30)
    weights[10:13], weights[21] = 1.0, 0.5
    total = RowBlocks(convert(X), sample_weight=weights, block_rows=3).sum(extremes)
    assert_array_equal(total.lowest, X[10])
    assert_array_equal(total.highest, X[21])
    assert total.count == 4
