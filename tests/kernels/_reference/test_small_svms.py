"""The kernels of small SVMs against their twins, to the bit, and the twins against LinearSVM and the formula."""

import numpy as np
import pytest
from kernel_cases import svm_case
from numpy.testing import assert_allclose, assert_array_equal

from isrht import LinearSVM, kernels
from isrht.kernels import _reference
from isrht.kernels.records import JudgedSvms, LearnedColumns, SvmProblems, SvmSums


@pytest.mark.parametrize("n_samples", [1, 31, 32, 33, 400])
@pytest.mark.parametrize("width", [0, 1, 7, 16, 25])
@pytest.mark.parametrize("n_classes", [2, 4])
@pytest.mark.parametrize("tolerance", [0.0, 0.05])
def test_solve_svms(kernel, n_samples, width, n_classes, tolerance, rng):
    rows, problems, start = svm_case(rng, n_samples, width, n_classes, [0.01, 1.0, 30.0])
    problems = problems._replace(tolerance=tolerance)
    found, expected = (start.copy(), np.full(len(start), np.nan)), (start.copy(), np.full(len(start), np.nan))
    kernels.engine.solve_svms(rows, problems, *found)
    _reference.solve_svms(rows, problems, *expected)
    assert_array_equal(found[0], expected[0])
    assert_array_equal(found[1], expected[1])


@pytest.mark.parametrize("n_classes", [2, 3])
def test_a_small_svm_is_the_linear_svm(kernel, n_classes, rng):
    rows, problems, weights = svm_case(rng, 90, 5, n_classes, [0.01, 1.0, 50.0])
    loss = np.empty(len(weights))
    kernels.engine.solve_svms(rows, problems, weights, loss)
    for p, (positive, C) in enumerate(zip(problems.positive, problems.cost, strict=True)):
        y = np.where(rows.codes == positive, 1, -1)
        svm = LinearSVM(C, tol=1e-9).fit(rows.columns.T, y, rows.weights)
        assert_allclose(weights[p], [*svm.coef_[0], *svm.intercept_], atol=1e-6)
        hinge = np.maximum(0, 1 - y * (rows.columns.T @ weights[p, :-1] + weights[p, -1]))
        assert_allclose(loss[p], rows.weights @ hinge**2)


def test_no_step_is_taken_from_the_optimum(kernel, rng):
    rows, problems, weights = svm_case(rng, 200, 4, 2, [1.0])
    kernels.engine.solve_svms(rows, problems, weights, np.empty(1))
    again = weights.copy()
    kernels.engine.solve_svms(rows, problems, again, np.empty(1))
    assert_allclose(again, weights, rtol=0, atol=1e-13)


def test_what_is_tolerated_is_near_the_optimum(kernel):
    # How near depends on the rows, so these are the same in every thread.
    rows, problems, start = svm_case(np.random.default_rng(20200207), 1000, 8, 2, [1.0])
    found = []
    for tolerance in (0.0, 0.05, 1.0):
        weights, loss = start.copy(), np.empty(1)
        kernels.engine.solve_svms(rows, problems._replace(tolerance=tolerance), weights, loss)
        found.append(0.5 * (weights**2).sum() + loss[0])
    assert found[0] <= found[1] <= 1.001 * found[0]
    assert found[1] < found[2]


@pytest.mark.parametrize("tolerance", [0.0, 0.05])
def test_where_no_step_keeps_its_promise_the_weights_stay(kernel, tolerance):
    """The objective is just below the largest number, and what the step promises is above it."""
    rows = LearnedColumns(np.array([[1e3]]), np.ones(1), np.ones(1, dtype=np.int32))
    problems = SvmProblems(np.ones(1, dtype=np.int32), np.ones(1), 1, tolerance)
    start = np.array([[-1.2e151, 0.0]])
    found, expected = (start.copy(), np.empty(1)), (start.copy(), np.empty(1))
    with np.errstate(over="ignore"):
        kernels.engine.solve_svms(rows, problems, *found)
        _reference.solve_svms(rows, problems, *expected)
    for weights, loss in (found, expected):
        assert_array_equal(weights, start)
        assert_allclose(loss, 1.44e308)


def test_without_rows_that_count_the_weights_are_zero(kernel, rng):
    rows, problems, weights = svm_case(rng, 10, 3, 2, [1.0])
    loss = np.empty(1)
    kernels.engine.solve_svms(rows._replace(weights=np.zeros(10)), problems, weights, loss)
    assert not weights.any()
    assert not loss.any()


@pytest.mark.parametrize("n_samples", [1, 33, 400])
@pytest.mark.parametrize("given", [False, True])
def test_sum_svms(kernel, n_samples, given, rng):
    rows, problems, weights = svm_case(rng, n_samples, 6, 3, [0.1, 10.0])
    before = rng.standard_normal(weights.shape) if given else np.empty((0, 7))
    found, expected = empty_sums(6, 7), empty_sums(6, 7)
    kernels.engine.sum_svms(rows, problems, weights, before, found)
    _reference.sum_svms(rows, problems, weights, before, expected)
    for mine, wanted in zip(found, expected, strict=True):
        assert_array_equal(mine, wanted)
    Z = np.column_stack([rows.columns.T, np.ones(n_samples)])
    for p, positive in enumerate(problems.positive):
        y = np.where(rows.codes == positive, 1, -1)
        hinge = np.maximum(0, 1 - y * (Z @ weights[p]))
        was = y * (Z @ before[p]) < 1 if given else np.zeros(n_samples, dtype=bool)
        signs = ((hinge > 0).astype(int) - was) * rows.weights
        assert_allclose(found.loss[p], rows.weights @ hinge**2)
        assert_allclose(found.pull[p], (y * hinge * rows.weights) @ Z, atol=1e-12)
        assert_allclose(found.gram[p], (Z.T * signs) @ Z, atol=1e-12)
        assert found.changed[p] == np.count_nonzero(signs)


def empty_sums(problems, width):
    return SvmSums(
        np.full(problems, np.nan),
        np.full((problems, width), np.nan),
        np.full((problems, width, width), np.nan),
        np.zeros(problems, dtype=np.int64),
    )


@pytest.mark.parametrize("n_samples", [1, 32, 33, 400])
@pytest.mark.parametrize("n_classes", [2, 3, 7])
@pytest.mark.parametrize("width", [0, 5])
def test_judge_svms(kernel, n_samples, n_classes, width, rng):
    rows, problems, weights = svm_case(rng, n_samples, width, n_classes, [0.1, 1.0, 10.0])
    weights[:] = rng.standard_normal(weights.shape)
    found, expected = judged(3, len(weights)), judged(3, len(weights))
    kernels.engine.judge_svms(rows, weights, found)
    _reference.judge_svms(rows, weights, expected)
    for mine, wanted in zip(found, expected, strict=True):
        assert_array_equal(mine, wanted)
    scores = rows.columns.T @ weights[:, :-1].T + weights[:, -1]
    for p, positive in enumerate(problems.positive):
        y, score = np.where(rows.codes == positive, 1, -1), scores[:, p]
        terms = score, score**2, score * y, y, np.maximum(0, 1 - y * score) ** 2
        assert_allclose(found.sums[:, p], [rows.weights @ each for each in terms], atol=1e-10)
    for c, own in enumerate(np.split(scores, 3, axis=1)):
        guess = own[:, 0] > 0 if n_classes == 2 else own.argmax(axis=1)
        assert_allclose(found.hits[c], rows.weights @ (guess == rows.codes))


def test_among_equal_scores_the_first_class_is_guessed(kernel, rng):
    rows, _, weights = svm_case(rng, 50, 2, 4, [1.0])
    found = judged(1, len(weights))
    kernels.engine.judge_svms(rows, np.zeros_like(weights), found)
    assert found.hits[0] == pytest.approx(rows.weights[rows.codes == 0].sum())


def judged(models, problems):
    return JudgedSvms(np.full(models, np.nan), np.full((5, problems), np.nan))


def test_judged_arrays_that_do_not_fit_are_errors(kernel, rng):
    rows, _, weights = svm_case(rng, 10, 3, 3, [1.0])
    judge = kernels.engine.judge_svms
    with pytest.raises(ValueError, match="columns, weights and codes differ in length"):
        judge(rows._replace(codes=rows.codes[1:]), weights, judged(1, 3))
    with pytest.raises(ValueError, match="weights has the wrong shape"):
        judge(rows, weights[:, 1:].copy(), judged(1, 3))
    for models in (0, 2):
        with pytest.raises(ValueError, match="every model must have as many problems"):
            judge(rows, weights, judged(models, 3))
    with pytest.raises(ValueError, match="an output has the wrong shape"):
        judge(rows, weights, judged(1, 4))


def test_arrays_that_do_not_fit_are_errors(kernel, rng):
    rows, problems, weights = svm_case(rng, 10, 3, 2, [1.0])
    solve = kernels.engine.solve_svms
    with pytest.raises(ValueError, match="columns, weights and codes differ in length"):
        solve(rows._replace(weights=np.ones(9)), problems, weights, np.empty(1))
    with pytest.raises(ValueError, match="columns, weights and codes differ in length"):
        solve(rows._replace(codes=rows.codes[1:]), problems, weights, np.empty(1))
    with pytest.raises(ValueError, match="the problems differ in number"):
        solve(rows, problems._replace(cost=np.ones(2)), weights, np.empty(1))
    with pytest.raises(ValueError, match="weights has the wrong shape"):
        solve(rows, problems, np.zeros((1, 3)), np.empty(1))
    with pytest.raises(ValueError, match="loss has the wrong shape"):
        solve(rows, problems, weights, np.empty(2))


@pytest.mark.skipif(kernels.engine is _reference, reason="NumPy takes any strides, and checks its own shapes")
def test_strides_and_outputs_that_do_not_fit_are_errors(rng):
    rows, problems, weights = svm_case(rng, 10, 3, 2, [1.0])
    backwards = rows._replace(columns=rows.columns[:, ::-1])
    with pytest.raises(ValueError, match="the values of a column must be contiguous"):
        kernels.engine.solve_svms(backwards, problems, weights, np.empty(1))
    with pytest.raises(ValueError, match="there must be a label"):
        kernels.engine.solve_svms(rows, problems._replace(labels=0), weights, np.empty(1))
    with pytest.raises(ValueError, match="before has the wrong shape"):
        kernels.engine.sum_svms(rows, problems, weights, np.zeros((2, 4)), empty_sums(1, 4))
    for place in range(4):
        sums = list(empty_sums(1, 4))
        sums[place] = np.zeros((2, *sums[place].shape[1:]), sums[place].dtype)
        with pytest.raises(ValueError, match="an output has the wrong shape"):
            kernels.engine.sum_svms(rows, problems, weights, np.empty((0, 4)), SvmSums(*sums))
