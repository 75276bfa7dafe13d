import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal

from isrht import fwht
from isrht.projections import statistics
from isrht.projections.statistics import ColumnStatistics, measure, pairs_are_cheaper
from isrht.rows.blocks import RowBlocks, pairs_of
from isrht.rows.labels import CodedLabels
from isrht.transform.rotation import Rotation


def slow_statistics(X, codes, n_classes, rotation):
    """Rotate everything, then sum."""
    dense = X.toarray() if sp.issparse(X) else np.asarray(X)
    padded = np.zeros((len(dense), rotation.length))
    padded[:, : dense.shape[1]] = dense * rotation.diagonal
    rotated = fwht(padded)
    sums = np.array([dense[codes == c].sum(axis=0) for c in range(n_classes)])
    return sums, np.array([(rotated[codes == c] ** 2).sum(axis=0) for c in range(n_classes)])


@pytest.fixture
def case(rng):
    X = rng.standard_normal((120, 37)) * (rng.random((120, 37)) < 0.3)
    return X, rng.integers(0, 3, 120), Rotation(rng.choice(np.array([-1, 1], np.int8), 37))


@pytest.mark.parametrize("as_matrix", [np.asarray, np.asfortranarray, sp.csr_array, sp.csr_matrix])
@pytest.mark.parametrize("block_rows", [None, 1, 7, 1000])
@pytest.mark.parametrize("n_jobs", [1, 2])
def test_agrees_with_rotating_everything(kernel, case, as_matrix, block_rows, n_jobs):
    X, codes, rotation = case
    statistics = measure(as_matrix(X), CodedLabels(np.arange(3), codes), rotation, n_jobs=n_jobs, block_rows=block_rows)
    sums, squares = slow_statistics(X, codes, 3, rotation)
    assert_allclose(statistics.sums, sums, atol=1e-12)
    assert_allclose(statistics.squares, squares, rtol=1e-12, atol=1e-10)
    assert_array_equal(statistics.counts, np.bincount(codes))


def test_float32_sums_stay_exact_to_a_millionth(rng):
    X = (rng.random((5000, 40)) + 0.5).astype(np.float32)
    rotation = Rotation(np.ones(40, np.int8))
    codes = np.zeros(len(X), int)
    statistics = measure(X, CodedLabels(np.arange(1), codes), rotation)
    sums, squares = slow_statistics(X.astype(np.float64), codes, 1, rotation)
    assert_allclose(statistics.sums, sums, rtol=1e-12)
    assert_allclose(statistics.squares, squares, rtol=1e-6)


def test_integers_give_exact_sums_in_any_blocking(rng):
    X = rng.integers(0, 2, (300, 50)).astype(np.float64)
    codes, rotation = rng.integers(0, 2, 300), Rotation(rng.choice(np.array([-1, 1], np.int8), 50))
    expected = measure(X, CodedLabels(np.arange(2), codes), rotation)
    for other, rows in ((X, 7), (X.astype(np.float32), 64), (sp.csr_array(X), 11)):
        got = measure(other, CodedLabels(np.arange(2), codes), rotation, block_rows=rows)
        assert_array_equal(got.squares, expected.squares)
        assert_array_equal(got.sums, expected.sums)


def test_sparse_rows_take_the_cheaper_way():
    thin = sp.random_array((50, 4096), density=0.01, format="csr", random_state=0)
    full = sp.random_array((50, 128), density=0.9, format="csr", random_state=0)
    assert pairs_are_cheaper(thin, 4096)
    assert not pairs_are_cheaper(full, 128)
    # It is a matter of each row, and not of how many there are.
    assert not pairs_are_cheaper(full[:1], 128)
    four = sp.csr_array((np.ones(8000), np.tile([1, 5, 20, 60], 2000), np.arange(0, 8001, 4)), (2000, 64))
    assert pairs_are_cheaper(four, 64)
    assert pairs_are_cheaper(four[:1], 64)


@pytest.mark.parametrize(("n_samples", "n_features", "several"), [(4000, 64, True), (300, 20_000, False)])
def test_threads_share_sparse_rows_where_that_pays(n_samples, n_features, several, rng, monkeypatch):
    """A block costs a set of totals, which its work must outweigh by far."""
    blocks = []
    monkeypatch.setattr(statistics, "RowBlocks", lambda *rows, **size: blocks.append(size) or RowBlocks(*rows, **size))
    per_row = 8
    indices = rng.integers(0, n_features // per_row, (n_samples, per_row)) + np.arange(per_row) * (
        n_features // per_row
    )
    data = np.ones(indices.size)
    X = sp.csr_array((data, indices.ravel(), np.arange(0, len(data) + 1, per_row)), (n_samples, n_features))
    rotation = Rotation(np.ones(n_features, np.int8))
    measure(X, None, rotation)
    (size,) = blocks
    n_blocks = -(-n_samples // size["block_rows"])
    totals = rotation.n_features + rotation.length
    assert (n_blocks > 1) == several
    assert n_blocks == 1 or pairs_of(X) / n_blocks > 15 * totals


def test_merge_keeps_classes_of_either_side(case):
    X, codes, rotation = case
    whole = measure(X, CodedLabels(np.arange(3), codes), rotation)
    parts = []
    for rows in (codes == 0, codes == 2, codes == 1):
        present, part = np.unique(codes[rows], return_inverse=True)
        parts.append(measure(X[rows], CodedLabels(present, part), rotation))
    merged = parts[0].merge(parts[1]).merge(parts[2])
    assert_array_equal(merged.classes, whole.classes)
    assert_array_equal(merged.counts, whole.counts)
    assert_allclose(merged.sums, whole.sums, atol=1e-12)
    assert_allclose(merged.squares, whole.squares, atol=1e-10)
    assert merged.n_samples == 120
    assert merged.nbytes > merged.squares.nbytes


def test_overflow_is_an_error():
    X = np.full((3, 8), 2e38, np.float32)
    with pytest.raises(ValueError, match="overflow"):
        measure(X, None, Rotation(np.ones(8, np.int8)))


def test_without_squares():
    statistics = measure(np.ones((3, 4)), None, Rotation(np.ones(4, np.int8)), with_squares=False)
    assert isinstance(statistics, ColumnStatistics)
    assert statistics.squares is None


def test_without_a_fold(case):
    X, codes, rotation = case
    folds = np.arange(120) % 4
    cells = measure(X, CodedLabels(np.arange(12), codes + 3 * folds), rotation)
    for fold in range(4):
        kept = folds != fold
        expected = measure(X[kept], CodedLabels(np.arange(3), codes[kept]), rotation)
        found = cells.without_fold(fold, 3)
        assert_array_equal(found.classes, expected.classes)
        assert_array_equal(found.counts, expected.counts)
        assert_allclose(found.sums, expected.sums, atol=1e-12)
        assert_allclose(found.squares, expected.squares, atol=1e-10)
    alone = measure(X, CodedLabels(np.arange(12), np.where(codes == 2, 2, codes + 3 * folds)), rotation)
    assert_array_equal(alone.without_fold(0, 3).classes, [0, 1])


def test_a_class_of_one_row_is_left_when_another_fold_goes():
    X, rotation = np.eye(4), Rotation(np.ones(4, np.int8))
    cells = measure(X, CodedLabels(np.arange(4), np.array([0, 0, 2, 3])), rotation, with_squares=False)
    found = cells.without_fold(0, 2)
    assert_array_equal(found.classes, [0, 1])
    assert_array_equal(found.counts, [1, 1])
    assert_array_equal(found.sums, X[2:])
    assert found.squares is None


def test_statistics_without_squares_can_be_merged(case):
    X, codes, rotation = case
    whole = measure(X, CodedLabels(np.arange(3), codes), rotation, with_squares=False)
    first = measure(
        X[codes == 1], CodedLabels(np.array([1]), np.zeros((codes == 1).sum(), int)), rotation, with_squares=False
    )
    others = measure(X[codes != 1], CodedLabels(np.array([0, 2]), codes[codes != 1] // 2), rotation, with_squares=False)
    merged = first.merge(others)
    assert merged.squares is None
    assert_array_equal(merged.counts, np.bincount(codes))
    assert_allclose(merged.sums, whole.sums, atol=1e-12)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("density", [0.05, 0.9])
@pytest.mark.parametrize("as_matrix", [np.asarray, sp.csr_array])
def test_a_row_of_weight_three_counts_as_three_rows(kernel, rng, dtype, density, as_matrix):
    X = (rng.integers(1, 5, (60, 40)) * (rng.random((60, 40)) < density)).astype(dtype)
    codes, times = rng.integers(0, 2, 60), rng.integers(0, 4, 60)
    rotation, classes = Rotation(rng.choice(np.array([-1, 1], np.int8), 40)), np.arange(2)
    found = measure(as_matrix(X), CodedLabels(classes, codes), rotation, sample_weight=times.astype(float))
    rows = np.repeat(np.arange(60), times)
    sums, squares = slow_statistics(X[rows].astype(np.float64), codes[rows], 2, rotation)
    assert_array_equal(found.counts, np.bincount(codes[rows]))
    assert_allclose(found.sums, sums, rtol=1e-12)
    assert_allclose(found.squares, squares, rtol=1e-10, atol=1e-8)
    unweighted = measure(as_matrix(X), CodedLabels(classes, codes), rotation)
    assert_allclose(unweighted.squares, slow_statistics(X.astype(np.float64), codes, 2, rotation)[1], rtol=1e-6)
    alone = measure(as_matrix(X), None, rotation, sample_weight=times.astype(float))
    assert_array_equal(alone.counts, [times.sum()])
    assert_allclose(alone.sums, [sums.sum(axis=0)], rtol=1e-12)
