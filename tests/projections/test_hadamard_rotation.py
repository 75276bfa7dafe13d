import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal

from isrht import HadamardRotation
from isrht.transform.orthogonal import OrthogonalRotation


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("d", [1, 2, 37, 384, 768, 1000, 1536])
def test_distances_are_kept_and_the_way_back_is_found(dtype, d, rng):
    X = rng.standard_normal((20, d)).astype(dtype)
    before = X.copy()
    rotation = HadamardRotation(random_state=3).fit(X)
    Z = rotation.transform(X)
    assert Z.dtype == dtype
    assert Z.shape == X.shape
    tolerance = 1e-4 if dtype == np.float32 else 1e-11
    assert_allclose(Z @ Z.T, X @ X.T, rtol=tolerance, atol=tolerance * d)
    assert_allclose(rotation.inverse_transform(Z), X, rtol=0, atol=tolerance)
    assert_array_equal(X, before)


def test_an_integer_is_the_seed(rng):
    X = rng.standard_normal((4, 100))
    model = HadamardRotation(3, random_state=11).fit(X)
    assert model.seed_ == 11
    assert_array_equal(model.signs_, OrthogonalRotation.drawn(100, 3, 11).signs)
    drawn = HadamardRotation(random_state=np.random.RandomState(0)).fit(X)
    assert_array_equal(drawn.signs_, HadamardRotation(random_state=drawn.seed_).fit(X).signs_)
    assert HadamardRotation().fit(X).seed_ != HadamardRotation().fit(X).seed_


def test_blocks_and_threads_change_nothing(rng):
    X = rng.standard_normal((3000, 500)).astype(np.float32)
    model = HadamardRotation(random_state=0).fit(X)
    expected = model.transform(X)
    assert_array_equal(model.set_params(n_jobs=3).transform(X), expected)
    assert_array_equal(np.concatenate([model.transform(X[:7]), model.transform(X[7:])]), expected)
    assert_array_equal(model.transform(np.asfortranarray(X)), expected)


def test_without_a_copy_rows_are_overwritten_where_they_can_be(rng):
    X = rng.standard_normal((5, 60))
    model = HadamardRotation(random_state=0).fit(X)
    expected = model.transform(X)
    model.set_params(copy=False)
    frozen = X.copy()
    frozen.flags.writeable = False
    assert_array_equal(model.transform(frozen), expected)
    integers = np.arange(60)[None]
    model.transform(integers)
    assert_array_equal(integers, np.arange(60)[None])
    memory = X.copy()
    assert model.transform(memory) is memory
    assert_array_equal(memory, expected)
    assert model.inverse_transform(memory) is memory
    assert_allclose(memory, X, atol=1e-12)


def test_sparse_rows(rng):
    X = sp.random_array((6, 50), density=0.1, random_state=rng, format="csr")
    model = HadamardRotation(random_state=0).fit(X)
    expected = model.transform(X.toarray())
    for rows in (X, sp.csc_matrix(X), sp.coo_array(X)):
        assert_array_equal(model.transform(rows), expected)


def test_one_hot_vectors_become_nearly_normal():
    Z = HadamardRotation(random_state=0).fit_transform(np.eye(1000))
    kurtosis = (Z**4).mean(axis=1) / (Z**2).mean(axis=1) ** 2
    assert abs(kurtosis.mean() - 3) < 0.2
    assert np.abs(Z).max() * np.sqrt(1000) < 6.5


@pytest.mark.parametrize("n_rounds", [0, 4, 1.5, "two", None, True])
def test_rounds_are_from_one_to_three(n_rounds):
    with pytest.raises((TypeError, ValueError), match="n_rounds"):
        HadamardRotation(n_rounds).fit(np.zeros((2, 4)))


def test_bad_rows_are_named():
    model = HadamardRotation(random_state=0).fit(np.zeros((2, 4)))
    with pytest.raises(ValueError, match="NaN"):
        model.transform([[0.0, np.nan, 0.0, 0.0]])
    with pytest.raises(ValueError, match="5 features"):
        model.transform(np.zeros((2, 5)))
    with pytest.raises(ValueError, match="5 columns"):
        model.inverse_transform(np.zeros((2, 5)))


@pytest.mark.parametrize("copy", [True, False])
@pytest.mark.parametrize("d", [4, 5, 60, 1000])
def test_what_is_not_finite_is_told_from_what_becomes_so(copy, d):
    model = HadamardRotation(random_state=0, copy=copy).fit(np.zeros((2, d)))
    for rotate in (model.transform, model.inverse_transform):
        for value, message in [(np.nan, "NaN"), (np.inf, "infinity"), (-np.inf, "infinity")]:
            X = np.zeros((30, d), np.float32)
            X[17, d // 2] = value
            with pytest.raises(ValueError, match=f"contains {message}"):
                rotate(X)
        with pytest.raises(ValueError, match="overflows float32"):
            rotate(np.full((30, d), 3e38, np.float32))
        with pytest.raises(ValueError, match="overflows float64.*largest absolute value.$"):
            rotate(np.full((30, d), 1e308))


def test_windows_that_overlap_are_not_overwritten(rng):
    memory = rng.standard_normal(50)
    windows = np.lib.stride_tricks.sliding_window_view(memory, 20, writeable=True)[::10]
    before = windows.copy()
    model = HadamardRotation(random_state=0, copy=False).fit(before)
    rotated = model.transform(windows)
    assert_array_equal(windows, before)
    assert_array_equal(rotated, model.transform(before))


def test_names_and_frames():
    pd = pytest.importorskip("pandas")
    X = pd.DataFrame(np.eye(3), columns=["a", "b", "c"])
    model = HadamardRotation(random_state=0).set_output(transform="pandas").fit(X)
    assert list(model.transform(X).columns) == ["hadamardrotation0", "hadamardrotation1", "hadamardrotation2"]


def test_the_width_of_rotated_rows_is_that_of_the_features():
    model = HadamardRotation().fit(np.eye(5))
    with pytest.raises(ValueError, match="4 columns, but n_features_in_=5"):
        model.inverse_transform(np.eye(4))
