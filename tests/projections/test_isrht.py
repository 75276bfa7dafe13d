import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.datasets import load_digits, make_blobs
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.svm import LinearSVC
from sklearn.utils.estimator_checks import parametrize_with_checks

from isrht import ISRHT, kernels
from isrht.projections._choice import RULES

VARIATIONS = [{}, {"center": True}, {"sketch_size": 16}, {"class_weight": "balanced"}, {"n_score_samples": 15}]


@parametrize_with_checks(
    [ISRHT(2, selection=selection) for selection in RULES]
    + [ISRHT(2, center=True), ISRHT(2, selection="top", sketch_size=4), ISRHT(0.5), ISRHT(1, n_jobs=2)]
)
def test_scikit_learn_contract(estimator, check):
    check(estimator)


@pytest.fixture
def data(rng):
    X = rng.standard_normal((90, 37)) * (rng.random((90, 37)) < 0.4)
    return X + 0.2 * (X != 0), rng.integers(0, 3, 90)


@pytest.mark.parametrize("selection", list(RULES))
@pytest.mark.parametrize("options", VARIATIONS, ids=str)
def test_sparse_and_dense_agree(kernel, data, selection, options):
    X, y = data
    dense = ISRHT(10, selection=selection, random_state=3, **options).fit(X, y)
    for kind in (sp.csr_array, sp.csr_matrix, sp.csc_array, sp.coo_array):
        sparse = clone(dense).fit(kind(X), y)
        assert_array_equal(sparse.selected_columns_, dense.selected_columns_)
        assert_allclose(sparse.transform(kind(X)), dense.transform(X), atol=1e-12)


@pytest.mark.parametrize("selection", list(RULES))
@pytest.mark.parametrize("options", [{}, {"center": True}, {"sketch_size": 16}], ids=str)
def test_transform_is_the_matrix_product_it_says_it_is(data, selection, options):
    X, y = data
    isrht = ISRHT(8, selection=selection, random_state=0, **options).fit(X, y)
    R = isrht.transform(np.eye(37)) - isrht.transform(np.zeros((1, 37)))
    origin = isrht.mean_ if isrht.center else 0
    assert_allclose(isrht.transform(X), (X - origin) @ R, atol=1e-10)
    Z = isrht.transform(X)
    assert_allclose(isrht.inverse_transform(Z), Z @ np.linalg.pinv(R) + origin, atol=1e-9)


@pytest.mark.parametrize(
    "options", [{}, {"center": True}, {"sketch_size": 6}, {"sketch_size": 6, "center": True}], ids=str
)
@pytest.mark.parametrize("selection", list(RULES))
@pytest.mark.parametrize("n_features", [1, 2, 3, 5, 8, 11])
def test_there_and_back_and_there_again(rng, n_features, selection, options):
    """Also where columns repeat, or are more than the features: what was projected once is projected to itself."""
    X, y = rng.standard_normal((20, n_features)), np.arange(20) % 2
    for dtype, atol in ((np.float64, 1e-11), (np.float32, 1e-4)):
        isrht = ISRHT(selection=selection, random_state=0, **options).fit(X.astype(dtype), y)
        Z = isrht.transform(X.astype(dtype))
        back = isrht.inverse_transform(Z)
        assert back.dtype == dtype
        assert_allclose(isrht.transform(back), Z, atol=atol)


@pytest.mark.parametrize("n_features", [33, 40, 57, 200])
def test_what_no_row_projects_to_comes_back_to_something_that_stays(rng, n_features):
    """With more columns than features R'R lacks rank, and rounding must not be taken for some."""
    isrht = ISRHT(selection="uniform", random_state=0).fit(rng.standard_normal((20, n_features)))
    nearest = isrht.transform(isrht.inverse_transform(rng.standard_normal((30, isrht.n_components_))))
    assert np.abs(nearest).max() < 10
    assert_allclose(isrht.transform(isrht.inverse_transform(nearest)), nearest, atol=1e-11)


def test_a_sketch_can_be_centred(data):
    X, y = data
    isrht = ISRHT(8, sketch_size=16, center=True, random_state=0).fit(X, y)
    Z = isrht.transform(X)
    assert_allclose(Z.mean(axis=0), 0, atol=1e-12)
    R = isrht.to_features(np.eye(8)).T
    assert_allclose(X @ R - isrht.offsets_, Z, atol=1e-10)
    assert isrht.inverse_transform(Z).shape == X.shape


def test_all_columns_lose_nothing(data):
    X, y = data
    for selection in ("uniform", "top", "supervised"):
        isrht = ISRHT(64, selection=selection, random_state=0).fit(X, y)
        Z = isrht.transform(X)
        assert_allclose(Z @ Z.T, X @ X.T, atol=1e-10)
        assert_allclose(isrht.inverse_transform(Z), X, atol=1e-10)


@pytest.mark.parametrize("selection", list(RULES))
@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("center", [False, True])
def test_any_blocking_jobs_and_kernel_give_the_same_model(data, selection, sparse, center):
    X, y = data
    X = sp.csr_array(X) if sparse else X
    expected = ISRHT(10, selection=selection, center=center, random_state=1).fit(X, y)
    names = kernels.available()
    for n_jobs, name, step in [(1, names[-1], 90), (-1, names[0], 1), (2, names[1], 7), (None, names[-1], 50)]:
        kernels.use(name)
        got = clone(expected).set_params(n_jobs=n_jobs)
        for start in range(0, 90, step):
            got.partial_fit(X[start : start + step], y[start : start + step], classes=[0, 1, 2])
        assert_array_equal(got.selected_columns_, expected.selected_columns_)
        assert_allclose(got.column_scores_, expected.column_scores_, atol=1e-9)
        assert_allclose(got.transform(X), expected.transform(X), atol=1e-12)
    kernels.use(names[-1])


def test_partial_fit_selects_anew_when_more_rows_come(data):
    X, _ = data
    isrht = ISRHT(5, selection="top", random_state=0).partial_fit(X[:10])
    before = isrht.selected_columns_
    assert_array_equal(
        isrht.partial_fit(X[10:]).selected_columns_, ISRHT(5, selection="top", random_state=0).fit(X).selected_columns_
    )
    assert isrht.statistics_.n_samples == 90
    assert not np.array_equal(before, isrht.selected_columns_)


def test_partial_fit_learns_classes_as_they_come(data):
    X, y = data
    order = np.argsort(y, kind="stable")
    isrht = ISRHT(5, random_state=0)
    for rows in np.array_split(order, 9):
        isrht.partial_fit(X[rows], y[rows])
    assert_array_equal(isrht.selected_columns_, ISRHT(5, random_state=0).fit(X, y).selected_columns_)


# --- the paper -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("selection", ["uniform", "importance"])
def test_gram_matrix_is_unbiased(selection, rng):
    """Section "Unsupervised sampling": E[X~X~'] = XX' for both."""
    X = rng.standard_normal((4, 16)) * np.arange(1, 17)
    grams = np.array(
        [(lambda Z: Z @ Z.T)(ISRHT(4, selection=selection, random_state=s).fit_transform(X)) for s in range(3000)]
    )
    error = np.abs(grams.mean(axis=0) - X @ X.T)
    assert (error <= 5 * grams.std(axis=0) / np.sqrt(len(grams))).all()


def test_proposition_1_norm_proportional_sampling_has_the_least_error(rng):
    """Of several probabilities, p_j ~ |column j|^2 has the least E|X~X~' - XX'|_F^2, sampling with replacement."""
    X = rng.standard_normal((6, 16)) * np.linspace(0.1, 3, 16) @ np.linalg.qr(rng.standard_normal((16, 16)))[0]
    isrht = ISRHT(8, selection="importance", random_state=0).fit(X)
    rotated = ISRHT(16, selection="top", random_state=0).fit(X).transform(X)
    norms = (rotated**2).sum(axis=0)
    assert_allclose(isrht.selection_probabilities_, norms / norms.sum(), atol=1e-9)

    def expected_error(p, r=8):
        second = sum(np.sum(np.outer(c, c) ** 2) / q for c, q in zip(rotated.T, p, strict=True))
        return (second - np.sum((X @ X.T) ** 2)) / r

    best = expected_error(isrht.selection_probabilities_)
    for other in (np.full(16, 1 / 16), np.sqrt(norms), norms**2, *rng.random((20, 16))):
        assert best <= expected_error(other / other.sum()) * (1 + 1e-9)


@given(seed=st.integers(0, 2**31), n=st.integers(1, 8), d=st.integers(1, 40), data=st.data())
@settings(deadline=None, max_examples=100)
def test_proposition_2_dropped_energy_bounds_the_error(seed, n, d, data):
    X = np.random.default_rng(seed).standard_normal((n, d))
    isrht = ISRHT(1, selection="top", random_state=0).fit(X)
    r = data.draw(st.integers(1, isrht.n_features_padded_))
    isrht = ISRHT(r, selection="top", random_state=0).fit(X)
    Z = isrht.transform(X)
    dropped = isrht.column_scores_.sum() - isrht.column_scores_[isrht.selected_columns_].sum()
    assert np.linalg.norm(Z @ Z.T - X @ X.T) <= dropped + 1e-9 * (1 + isrht.column_scores_.sum())


def test_distances_are_kept(rng):
    """Johnson-Lindenstrauss: r columns of SRHT keep all pairwise distances within eps."""
    X = rng.standard_normal((20, 4000))
    Z = ISRHT(1024, selection="uniform", random_state=0).fit_transform(X)
    before = ((X[:, None] - X) ** 2).sum(axis=2)[np.triu_indices(20, 1)]
    after = ((Z[:, None] - Z) ** 2).sum(axis=2)[np.triu_indices(20, 1)]
    assert np.abs(np.sqrt(after / before) - 1).max() < 0.15


def test_smallest_b_beats_uniform_beats_largest():
    """Errata 1: the minimum of b'p takes the smallest b."""
    X, y = load_digits(return_X_y=True)
    X_train, X_test, y_train, y_test = train_test_split(X / 16, y % 2, random_state=0)
    accuracy = {"smallest": [], "uniform": [], "largest": []}
    for seed in range(10):
        smallest = ISRHT(8, random_state=seed).fit(X_train, y_train)
        uniform = ISRHT(8, selection="uniform", random_state=seed).fit(X_train)
        everything = ISRHT(64, selection="uniform", random_state=seed).fit(X_train)
        worst = np.argsort(smallest.column_scores_)[:8]
        for name, project in (
            ("smallest", smallest.transform),
            ("uniform", uniform.transform),
            ("largest", lambda X, model=everything, columns=worst: model.transform(X)[:, columns]),
        ):
            svm = LinearSVC(dual=False).fit(project(X_train), y_train)
            accuracy[name].append(svm.score(project(X_test), y_test))
    means = {name: np.mean(values) for name, values in accuracy.items()}
    assert means["smallest"] > means["uniform"] + 0.02
    assert means["uniform"] > means["largest"] + 0.02


def test_figure_1_the_supervised_column_separates_in_every_draw():
    X, y = make_blobs(200, centers=[[3, 3], [-3, -3]], random_state=0)
    blind = 0
    for seed in range(15):
        Z = ISRHT(1, random_state=seed).fit_transform(X, y)
        assert LinearSVC(dual=False).fit(Z, y).score(Z, y) > 0.99
        Z = ISRHT(1, selection="uniform", random_state=seed).fit_transform(X)
        blind += LinearSVC(dual=False).fit(Z, y).score(Z, y) < 0.8
    assert blind >= 3


# --- the parameters -------------------------------------------------------------------------------------------


def test_balance_weighs_between_against_within(rng):
    X, y = rng.standard_normal((60, 16)), rng.integers(0, 2, 60)
    chosen = {a: tuple(ISRHT(4, balance=a, random_state=0).fit(X, y).selected_columns_) for a in (0.01, 1.0, 100.0)}
    assert len(set(chosen.values())) > 1


def test_balanced_classes_count_as_if_resampled(data):
    X, _ = data
    y = (np.arange(90) < 10).astype(int)
    balanced = ISRHT(6, balance=0.7, class_weight="balanced", random_state=0).fit(X, y)
    repeated = np.concatenate([np.flatnonzero(y == 0), np.repeat(np.flatnonzero(y == 1), 8)])
    resampled = ISRHT(6, balance=0.7, random_state=0).fit(X[repeated], y[repeated])
    assert_array_equal(balanced.selected_columns_, resampled.selected_columns_)
    weighted = ISRHT(6, balance=0.7, class_weight={0: 1, 1: 8}, random_state=0).fit(X, y)
    assert_array_equal(weighted.selected_columns_, resampled.selected_columns_)


def test_center_is_the_same_as_centring(data):
    X, y = data
    for selection in RULES:
        centred = ISRHT(7, selection=selection, center=True, random_state=0).fit(X, y)
        by_hand = ISRHT(7, selection=selection, random_state=0).fit(X - X.mean(axis=0), y)
        assert_array_equal(centred.selected_columns_, by_hand.selected_columns_)
        assert_allclose(centred.transform(X), by_hand.transform(X - X.mean(axis=0)), atol=1e-12)


def test_share_of_the_scores(data):
    X, _ = data
    isrht = ISRHT(0.5, selection="top", random_state=0).fit(X)
    held = np.sort(isrht.column_scores_)[::-1].cumsum() / isrht.column_scores_.sum()
    assert held[isrht.n_components_ - 1] >= 0.5 > held[isrht.n_components_ - 2]
    assert isrht.transform(X).shape == (90, isrht.n_components_)
    assert ISRHT(0.25, selection="uniform").fit(X).n_components_ == 16


def test_sketch_of_the_paper_is_twice_as_wide(data):
    X, y = data
    isrht = ISRHT(5, sketch_size="paper", random_state=0).fit(X, y)
    assert isrht.embedding_.n_components == 10
    assert isrht.n_features_padded_ == 16
    assert len(isrht.signs_) == 10


def test_memory_of_the_projection_is_that_of_table_1(rng):
    """O(d + r), where a Gaussian projection takes O(d r)."""
    X = sp.random_array((20, 100_000), density=1e-3, format="csr", random_state=0)
    isrht = ISRHT(256, selection="uniform", random_state=0).fit(X)
    assert isrht.nbytes == 100_000 + 256 * (8 + 8)


def test_memory_of_the_projection_counts_the_sketch_and_the_mean(data):
    X, y = data
    sketched = ISRHT(5, sketch_size="paper", random_state=0).fit(X, y)
    assert sketched.nbytes == 10 + 5 * (8 + 8) + X.shape[1] * (4 + 1)
    plain, centred = (ISRHT(5, center=center, random_state=0).fit(X, y) for center in (False, True))
    assert centred.nbytes == plain.nbytes + centred.mean_.nbytes


def test_float32_stays_float32(data):
    X, y = data
    isrht = ISRHT(5, random_state=0).fit(X.astype(np.float32), y)
    assert isrht.transform(X.astype(np.float32)).dtype == np.float32
    assert isrht.inverse_transform(np.ones((1, 5), np.float32)).dtype == np.float32
    assert isrht.transform(X).dtype == np.float64
    assert ISRHT(5).fit(X.astype(int), y).transform(X.astype(int)).dtype == np.float64


def test_names_and_frames(data):
    X, y = data
    frame = pd.DataFrame(X, columns=[f"f{i}" for i in range(37)])
    isrht = ISRHT(3, random_state=0).fit(frame, y)
    assert_array_equal(isrht.feature_names_in_, frame.columns)
    assert_array_equal(isrht.get_feature_names_out(), ["isrht0", "isrht1", "isrht2"])
    assert isinstance(isrht.set_output(transform="pandas").transform(frame), pd.DataFrame)
    assert isinstance(isrht.set_output(transform="polars").transform(frame), pl.DataFrame)
    from_polars = clone(isrht).fit(pl.DataFrame(frame), y)
    assert_array_equal(from_polars.selected_columns_, isrht.selected_columns_)


def test_pickle_clone_and_html(data):
    X, y = data
    isrht = ISRHT(3, random_state=0).fit(X, y)
    assert_array_equal(pickle.loads(pickle.dumps(isrht)).transform(X), isrht.transform(X))
    assert "ISRHT" in isrht._repr_html_()
    assert not hasattr(clone(isrht), "selected_columns_")
    assert make_pipeline(ISRHT(3, random_state=0), LinearSVC(dual=False)).fit(X, y).score(X, y) > 1 / 3


def test_input_is_never_written_to(data):
    X, y = data
    X.flags.writeable = False
    sparse = sp.csr_array(X)
    for array in (sparse.data, sparse.indices, sparse.indptr):
        array.flags.writeable = False
    for selection in RULES:
        ISRHT(3, selection=selection, center=True).fit(X, y).transform(X)
        ISRHT(3, selection=selection, center=True).fit(sparse, y).transform(sparse)


# --- bad input ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"n_components": 0}, ValueError, "n_components must be at least 1, got 0"),
        ({"n_components": -3}, ValueError, "n_components must be at least 1, got -3"),
        ({"n_components": 65}, ValueError, "n_components=65 is more than the padded width 64.*n_features=37"),
        ({"n_components": 1.5}, ValueError, "n_components as a float.*1.5"),
        ({"n_components": "all"}, TypeError, "n_components must be.*'all'"),
        ({"n_components": True}, TypeError, "n_components must be.*True"),
        ({"selection": "best"}, ValueError, "selection must be one of.*'best'"),
        ({"balance": -1.0}, ValueError, "balance must be positive.*-1.0"),
        ({"balance": "x"}, TypeError, "balance must be a number"),
        ({"sketch_size": 0}, ValueError, "sketch_size must be at least 1, got 0"),
        ({"sketch_size": "big"}, TypeError, "sketch_size must be an integer, got 'big'"),
        ({"sketch_size": "paper", "n_components": 0.5}, ValueError, "sketch_size='paper' needs an integer"),
        ({"n_score_samples": 0}, ValueError, "n_score_samples must be at least 1"),
        ({"class_weight": "heavy"}, ValueError, "class_weight"),
    ],
    ids=str,
)
def test_bad_parameters_are_named(data, options, error, message):
    X, y = data
    with pytest.raises(error, match=message):
        ISRHT(**{"n_components": 4, **options}).fit(X, y)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda X, y: (np.where(X > 2, np.nan, X), y), "NaN"),
        (lambda X, y: (np.where(X > 2, np.inf, X), y), "infinity"),
        (lambda X, y: (X[:0], y[:0]), "0 sample"),
        (lambda X, y: (X[:, :0], y), "0 feature"),
        (lambda X, y: (X, np.ones(len(X))), "one class"),
        (lambda X, y: (X, None), "requires y"),
        (lambda X, y: (X, y[:-1]), "inconsistent numbers of samples"),
        (lambda X, y: (X, X[:, 0] + 0.123), "Unknown label type"),
        (lambda X, y: (np.full(X.shape, "a", object), y), "could not convert"),
        (lambda X, y: (np.full(X.shape, 3e38, np.float32), y), "overflow"),
    ],
    ids=["nan", "inf", "no rows", "no features", "one class", "no y", "short y", "real y", "strings", "huge"],
)
def test_bad_data_are_named(data, change, message):
    X, y = change(*data)
    with pytest.raises(ValueError, match=message):
        ISRHT(4).fit(X, y)


def test_weights_of_classes_need_classes(data):
    X, _ = data
    with pytest.raises(ValueError, match="class_weight='balanced' requires y to be passed, but the target y is None"):
        ISRHT(4, selection="uniform", class_weight="balanced").fit(X)


def test_transform_refuses_what_it_was_not_fitted_for(data):
    X, y = data
    with pytest.raises(NotFittedError):
        ISRHT(4).transform(X)
    isrht = ISRHT(4, random_state=0).fit(X, y)
    with pytest.raises(ValueError, match="36 features.*expecting 37"):
        isrht.transform(X[:, :36])
    with pytest.raises(ValueError, match="5 columns, but n_components_=4"):
        isrht.inverse_transform(np.ones((2, 5)))
    with pytest.raises(ValueError, match="overflows float32"):
        isrht.transform(np.full((1, 37), 3e38, np.float32))


def test_partial_fit_refuses_what_it_cannot_keep(data):
    X, y = data
    sampled = ISRHT(4, n_score_samples=5)
    assert not hasattr(sampled, "partial_fit")
    with pytest.raises(AttributeError, match="partial_fit") as raised:
        sampled.partial_fit(X, y)
    assert "n_score_samples=5 needs all rows at once" in str(raised.value.__cause__)
    with pytest.raises(ValueError, match=r"not in classes: \[2\]"):
        ISRHT(4).partial_fit(X, y, classes=[0, 1])


def test_sixty_four_bit_indices(data):
    X, y = data
    long = sp.csr_array(X)
    long.indices, long.indptr = long.indices.astype(np.int64), long.indptr.astype(np.int64)
    expected = ISRHT(4, random_state=0).fit(sp.csr_array(X), y)
    got = ISRHT(4, random_state=0).fit(long, y)
    assert_array_equal(got.selected_columns_, expected.selected_columns_)
    assert_array_equal(got.transform(long), expected.transform(sp.csr_array(X)))


def test_single_rows_and_features():
    assert ISRHT(1, selection="top").fit_transform(np.ones((1, 1))).shape == (1, 1)
    assert ISRHT(1).fit_transform(np.array([[1.0], [2.0]]), [0, 1]).shape == (2, 1)
    assert ISRHT(1, selection="importance", center=True).fit_transform(np.zeros((3, 5))).tolist() == [[0.0]] * 3


def test_parameters_count_when_the_first_block_comes(data):
    X, y = data
    isrht = ISRHT(4, center=True, random_state=0).partial_fit(X[:50], y[:50])
    isrht.set_params(n_components=7, center=False, selection="top", class_weight="balanced").partial_fit(X[50:], y[50:])
    whole = ISRHT(4, center=True, random_state=0).fit(X, y)
    assert_array_equal(isrht.selected_columns_, whole.selected_columns_)
    assert_allclose(isrht.transform(X), whole.transform(X), atol=1e-12)


def test_auto_keeps_256_columns_or_all(rng):
    y = np.arange(12) % 2
    assert ISRHT(random_state=0).fit(rng.random((12, 300)), y).n_components_ == 256
    assert ISRHT(random_state=0).fit(rng.random((12, 100)), y).n_components_ == 128
    assert ISRHT(sketch_size="paper", random_state=0).fit(rng.random((12, 100)), y).embedding_.n_components_ == 256
    with pytest.raises(ValueError, match="n_components=256 is more than the padded width 128"):
        ISRHT(256).fit(rng.random((12, 100)), y)
