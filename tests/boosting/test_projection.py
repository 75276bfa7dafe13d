"""How learned columns are stored, and what they do to rows."""

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal

from isrht import BoostedISRHT

DIAGONALS = ("standard", "z", "signs")


@pytest.mark.parametrize("diagonal", DIAGONALS)
def test_to_features_is_the_transpose_of_transform(data, rng, diagonal):
    X, y = data
    model = BoostedISRHT(12, rounds=3, diagonal=diagonal, random_state=0).fit(X, y)
    weights = rng.standard_normal((2, 12))
    assert_allclose(model.transform(X) @ weights.T, (X - model.mean_) @ model.to_features(weights).T, atol=1e-9)


def test_wide_dense_rows_are_rotated(data, monkeypatch):
    X, y = data
    model = BoostedISRHT(20, rounds=2, random_state=0).fit(X, y)
    expected = model.transform(X)
    monkeypatch.setattr("isrht.boosting._projection.MATRIX_ELEMENTS", 0)
    assert_allclose(model.transform(X), expected, atol=1e-10)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_wide_sparse_rows_are_rotated(data, monkeypatch, dtype):
    X, y = sp.csr_array(data[0].astype(dtype)), data[1]
    model = BoostedISRHT(20, rounds=2, random_state=0).fit(X, y)
    multiplied = model.transform(X)
    monkeypatch.setattr("isrht.boosting._projection.SPARSE_MATRIX_ELEMENTS", 0)
    assert_allclose(model.transform(X), multiplied, atol=1e-10 if dtype == np.float64 else 1e-4)


@pytest.mark.parametrize("diagonal", DIAGONALS)
@pytest.mark.parametrize("n_jobs", [1, 2])
def test_sums_behind_several_diagonals_are_columns_of_rotations(data, monkeypatch, diagonal, n_jobs):
    X, y = sp.csr_array(data[0]), data[1]
    model = BoostedISRHT(3, rounds=3, diagonal=diagonal, random_state=0, n_jobs=n_jobs).fit(X, y)
    assert model.n_learned_ == model.n_components_ == 3
    multiplied = model.transform(X)
    monkeypatch.setattr("isrht.boosting._projection.SPARSE_MATRIX_ELEMENTS", 0)
    together = model.transform(X)
    assert_allclose(together, multiplied, atol=1e-10)
    for at_once in (1, 2):
        monkeypatch.setattr("isrht.boosting._projection.SUMMED_ELEMENTS", at_once * X.shape[1])
        assert_array_equal(model.transform(X), together)
    rotated = np.column_stack([each.project(X, [0], model._unnormalised(1))[:, 0] for _, each, _ in model._rounds()])
    expected = rotated @ model.mixing_.T * model.column_scales_ - model.offsets_
    assert_allclose(together, expected, atol=1e-10)


def test_a_component_more_than_there_are_columns(data):
    X, y = data
    model = BoostedISRHT(300, rounds=1, random_state=0).fit(X, y)
    assert model.n_components_ == 32
    assert model.transform(X).shape == (120, 32)


def test_features_that_never_vary(rng):
    model = BoostedISRHT(3).fit(np.ones((30, 4)), np.arange(30) % 2)
    assert_array_equal(model.transform(np.ones((2, 4))), np.zeros((2, 3)))
    assert not model.has_signal_


def test_memory_of_signs_is_bits(rng):
    X, y = sp.random_array((60, 100_000), density=1e-3, format="csr", random_state=0), np.arange(60) % 2
    bits = BoostedISRHT(4, rounds=4, diagonal="signs").fit(X, y)
    numbers = BoostedISRHT(4, rounds=4, diagonal="z", threshold=0).fit(X, y)
    assert bits.nbytes < 100_000 / 8 * 5 + 500
    assert 4 * 4 * 100_000 <= numbers.nbytes < 4 * 4 * 100_000 + 500


def test_float32_stays_float32(data):
    X, y = data
    model = BoostedISRHT(5, random_state=0).fit(X.astype(np.float32), y)
    assert model.transform(X.astype(np.float32)).dtype == np.float32
    assert model.transform(sp.csr_array(X.astype(np.float32))).dtype == np.float32
    assert model.transform(X).dtype == np.float64
    expected = BoostedISRHT(5, random_state=0).fit(X, y).transform(X)
    assert_allclose(model.transform(X.astype(np.float32)), expected, atol=1e-3)


def test_contrasts_are_dealt_to_the_diagonals_in_turn(data):
    X, y = data
    model = BoostedISRHT(8, rounds=3, random_state=0).fit(X, y)
    assert_array_equal(model.column_rounds_, [0, 1, 2, 0, 0, 1, 1, 2])
    assert_array_equal(model.selected_columns_[:3], [0, 0, 0])
    assert (model.selected_columns_[3:] > 0).all()


def test_contrasts_weigh_less_the_more_there_are(data):
    X, y = data
    for n_components, weight in [(7, 0.1), (102, 0.04)]:
        model = BoostedISRHT(n_components, rounds=5, threshold=0, random_state=0).fit(X, y)
        assert model.n_learned_ == 5
        learned, contrasts = model.column_scales_[:5], model.column_scales_[5:]
        assert_allclose(contrasts, 0.4 / max(4, np.sqrt(len(contrasts))) * learned[0])
        assert contrasts[0] == pytest.approx(weight * learned[0], rel=0.02)


@pytest.mark.parametrize("factor", [1e-30, 1e30])
def test_units_beyond_float32_are_worked_on_in_float64(data, factor):
    X, y = data
    tiny = (X * factor).astype(np.float32)
    model = BoostedISRHT(3, diagonal="standard", random_state=0).fit(tiny, y)
    assert not model._fits(np.float32)
    expected = BoostedISRHT(3, diagonal="standard", random_state=0).fit(X, y).transform(X)
    assert model.transform(tiny).dtype == np.float32
    assert_allclose(model.transform(tiny), expected, atol=1e-3)
