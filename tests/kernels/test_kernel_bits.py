"""All kernels give the same bits: every function, whatever the shapes, the strides and the types, and so every model.

The twin in NumPy is what the others are compared with. Among the data are numbers of very different sizes, so that
another order of additions shows; zeros of either sign; and entries that repeat a feature.
"""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from kernel_cases import descent_case, svm_case
from numpy.testing import assert_array_equal
from sklearn.base import clone

from isrht import ISRHT, BoostedISRHT, HadamardFourierFeatures, ISRHTClassifier, LinearSVMCV, SparseEmbedding, kernels
from isrht.kernels.records import (
    CsrRows,
    DiagonalPaths,
    DiagonalProblems,
    DiagonalResults,
    FeatureTable,
    JudgedSvms,
    SvmSums,
    WeightedRows,
)
from isrht.transform.lengths import SMALL_ORDERS, next_power_of_two
from isrht.transform.matrices import small_matrix
from isrht.transform.orthogonal import OrthogonalRotation

COMPILED = [name for name in kernels.available() if name != kernels.NUMPY]

FLOATS = st.sampled_from([np.float32, np.float64])
INDICES = st.sampled_from([np.int32, np.int64])
SEEDS = st.integers(0, 2**32 - 1)
PROBLEMS = st.sampled_from([1, 2, 3, 4, 5, 7, 9])
WIDTHS = st.one_of(st.integers(1, 100), st.integers(1, 3000), st.sampled_from([2048, 2049, 4096, 4104, 5000, 8192]))

every_shape = settings(deadline=None, max_examples=60)


def numbers(rng, shape, dtype=np.float64):
    """Return numbers of very different sizes, some of them zero or minus zero."""
    values = rng.standard_normal(shape) * 10.0 ** rng.integers(-6, 6, shape)
    return np.where(rng.random(shape) < 0.2, rng.choice([0.0, -0.0], shape), values).astype(dtype)


def factors(rng, width, dtype):
    """Return a diagonal: of signs alone, or of any numbers."""
    return rng.choice([-1, 1], width).astype(dtype) if rng.random() < 0.5 else numbers(rng, width, dtype)


def dense_rows(rng, rows, width, dtype):
    """Return rows that may lie apart, backwards, or anywhere within a cache line."""
    left, right = rng.integers(0, 9, 2)
    step = rng.choice([-2, -1, 1, 3])
    memory = numbers(rng, (rows * abs(step), left + width + right), dtype)
    return memory[::step, left : left + width]


def sparse_rows(rng, rows, width, dtype, index_type):
    """Return CSR rows of very different lengths, unsorted, with repeated features, and entries that are in no row."""
    longest = rng.choice([1, 5, 30, 200])
    sizes = rng.integers(0, longest + 1, rows + 1)
    ends = np.cumsum(sizes).astype(index_type)
    indices = rng.integers(0, rng.integers(1, width + 1), ends[-1] + 2).astype(index_type)
    return CsrRows(numbers(rng, len(indices), dtype), indices, ends)


def assert_same_bits(function, *arguments, outputs):
    """Call the twin and all compiled variants. ``outputs`` are the places of what they write, each to its own copy."""
    expected = called(kernels.NUMPY, function, arguments, outputs)
    for variant in COMPILED:
        for mine, wanted in zip(called(variant, function, arguments, outputs), expected, strict=True):
            assert_array_equal(mine.view(np.uint8), wanted.view(np.uint8), err_msg=variant)


def called(variant, function, arguments, outputs):
    """Return the arrays that the function of a variant writes."""
    arguments = [copied(one) if place in outputs else one for place, one in enumerate(arguments)]
    before = kernels.active()
    kernels.use(variant)
    try:
        made = [one() if callable(one) else one for one in arguments]  # what each engine makes by itself
        getattr(kernels.engine, function)(*made)
    finally:
        kernels.use(before)
    return [array for place in outputs for array in arrays_of(arguments[place])]


def copied(output):
    """Return a copy of an array, or of all arrays of a record; its numbers are as they are."""
    if isinstance(output, list):
        return [copied(one) for one in output]
    if isinstance(output, tuple):
        return type(output)(*map(copied, output))
    return output.copy() if isinstance(output, np.ndarray) else output


def arrays_of(output):
    """Return all arrays of a record, or the only one."""
    if isinstance(output, list | tuple):
        return [array for one in output for array in arrays_of(one)]
    return [output] if isinstance(output, np.ndarray) else []


@given(seed=SEEDS, dtype=FLOATS, outer=st.integers(1, 5), log_length=st.integers(0, 14), inner=st.integers(1, 9))
@every_shape
def test_transform(seed, dtype, outer, log_length, inner):
    rng = np.random.default_rng(seed)
    cube = numbers(rng, (outer, 2**log_length, inner), dtype)
    for workers in (1, 3):
        assert_same_bits("transform", cube, rng.choice([1.0, 0.3]), workers, outputs=[0])


@given(seed=SEEDS, dtype=st.sampled_from([np.int32, np.int64]), log_length=st.integers(0, 14), inner=st.integers(1, 9))
@every_shape
def test_transform_of_integers(seed, dtype, log_length, inner):
    rng, limits = np.random.default_rng(seed), np.iinfo(dtype)
    cube = rng.integers(limits.min, limits.max, (2, 2**log_length, inner), dtype=dtype, endpoint=True)
    assert_same_bits("transform", cube, 1.0, 1, outputs=[0])


@given(
    seed=SEEDS,
    dtype=FLOATS,
    outer=st.integers(1, 20),
    order=st.sampled_from(SMALL_ORDERS),
    log_factor=st.integers(0, 8),
    inner=st.integers(1, 5),
)
@every_shape
def test_transform_streams(seed, dtype, outer, order, log_factor, inner):
    rng = np.random.default_rng(seed)
    cube = numbers(rng, (outer, order << log_factor, inner), dtype)
    scale = rng.choice([1.0, 0.3])
    for workers in (1, 3):
        assert_same_bits("transform_streams", cube, small_matrix(order), scale, workers, outputs=[0])


@given(seed=SEEDS, count=st.integers(0, 200), brain=st.booleans())
@every_shape
def test_halves(seed, count, brain):
    rng = np.random.default_rng(seed)
    halves = rng.integers(0, 2**16, count).astype(np.uint16)
    assert_same_bits("widen_halves", halves, brain, np.zeros(count, np.float32), outputs=[2])
    values = np.concatenate([numbers(rng, count, np.float32), [np.inf, -np.inf, np.nan]]).astype(np.float32)
    assert_same_bits("narrow_halves", values, brain, np.zeros(count + 3, np.uint16), outputs=[2])


DENSE = {"seed": SEEDS, "dtype": FLOATS, "rows": st.integers(1, 30), "width": WIDTHS}
PADDINGS = st.integers(0, 3)


@given(**DENSE, n_rounds=st.integers(1, 3), inverse=st.booleans())
@every_shape
def test_rotate_rows(seed, dtype, rows, width, n_rounds, inverse):
    rng = np.random.default_rng(seed)
    steps = OrthogonalRotation.drawn(width, n_rounds, seed).steps(dtype)
    x = dense_rows(rng, rows, width, dtype)
    assert_same_bits("rotate_rows", x, steps, np.full(x.shape, 7, dtype), inverse, outputs=[2])


@given(**DENSE, count=st.integers(0, 400), padding=PADDINGS)
@every_shape
def test_project_rows(seed, dtype, rows, width, count, padding):
    rng = np.random.default_rng(seed)
    x, length = dense_rows(rng, rows, width, dtype), next_power_of_two(width) << padding
    columns, scales = rng.integers(0, length, count), numbers(rng, count, dtype)
    out = np.full((rows, count), 7, dtype)
    assert_same_bits("project_rows", x, factors(rng, width, dtype), length, columns, scales, out, outputs=[5])


@given(**DENSE, chosen=st.integers(0, 40), padding=PADDINGS)
@every_shape
def test_sums_and_squares_of_rows(seed, dtype, rows, width, chosen, padding):
    rng = np.random.default_rng(seed)
    x, choice = dense_rows(rng, rows, width, dtype), rng.integers(0, rows, chosen)
    assert_same_bits("add_rows", x, choice, numbers(rng, width), outputs=[2])
    totals = numbers(rng, next_power_of_two(width) << padding)
    assert_same_bits("add_squares", x, choice, factors(rng, width, dtype), totals, outputs=[3])


@given(**DENSE, problems=PROBLEMS)
@every_shape
def test_moments_of_rows(seed, dtype, rows, width, problems):
    rng = np.random.default_rng(seed)
    x, totals = dense_rows(rng, rows, width, dtype), numbers(rng, (width, 3, problems))
    assert_same_bits("add_moments", x, *numbers(rng, (2, rows, problems)), totals, outputs=[3])


@given(seed=SEEDS, rows=st.integers(0, 200), width=st.integers(0, 20), n_classes=st.integers(2, 4))
@every_shape
def test_small_svms(seed, rows, width, n_classes):
    rng = np.random.default_rng(seed)
    columns, problems, weights = svm_case(rng, rows, width, n_classes, 10.0 ** rng.integers(-3, 3, 3))
    columns = columns._replace(columns=columns.columns * 10.0 ** rng.integers(-2, 3, (width, 1)))
    count = len(weights)
    assert_same_bits("solve_svms", columns, problems, weights, np.empty(count), outputs=[2, 3])
    sums = SvmSums(
        np.empty(count), np.empty((count, width + 1)), np.empty((count, width + 1, width + 1)), np.empty(count, int)
    )
    assert_same_bits("sum_svms", columns, problems, weights, rng.standard_normal(weights.shape), sums, outputs=[4])
    judged = JudgedSvms(np.empty(3), np.empty((5, count)))
    assert_same_bits("judge_svms", columns, rng.standard_normal(weights.shape), judged, outputs=[2])


SPARSE = {
    "seed": SEEDS,
    "dtype": FLOATS,
    "index_type": INDICES,
    "rows": st.integers(0, 30),
    "width": st.one_of(st.integers(1, 100), st.integers(1, 200_000)),
}


@given(**SPARSE, count=st.one_of(st.integers(1, 70), st.integers(1, 600)))
@every_shape
def test_project_csr(seed, dtype, index_type, rows, width, count):
    rng = np.random.default_rng(seed)
    length = next_power_of_two(width)
    columns, scales = rng.integers(0, length, count), numbers(rng, count, dtype)
    matrix = sparse_rows(rng, rows, width, dtype, index_type)
    out = np.full((rows, count), 7, dtype)
    assert_same_bits("project_csr", matrix, factors(rng, width, dtype), length, columns, scales, out, outputs=[5])


@given(**SPARSE, chosen=st.integers(0, 40))
@every_shape
def test_sums_and_autocorrelations_of_csr_rows(seed, dtype, index_type, rows, width, chosen):
    rng = np.random.default_rng(seed)
    matrix = sparse_rows(rng, rows, width, dtype, index_type)
    choice = rng.integers(0, max(1, rows), chosen if rows else 0)
    assert_same_bits("add_csr_rows", matrix, choice, numbers(rng, width), outputs=[2])
    totals = numbers(rng, next_power_of_two(width))
    assert_same_bits("add_csr_autocorrelation", matrix, choice, factors(rng, width, dtype), totals, outputs=[3])


@given(**SPARSE, problems=PROBLEMS)
@every_shape
def test_moments(seed, dtype, index_type, rows, width, problems):
    rng = np.random.default_rng(seed)
    matrix = sparse_rows(rng, rows, width, dtype, index_type)
    first, second = numbers(rng, (2, rows, problems))
    assert_same_bits("add_csr_moments", matrix, first, second, numbers(rng, (width, 3, problems)), outputs=[3])
    totals = np.full((rows, 3, problems), 7.0)
    assert_same_bits("moments_of_features", matrix, numbers(rng, (width, 2, problems)), totals, outputs=[2])


def diagonal_records(rng, features, problems):
    """Return the records that the kernels of diagonals take."""
    folds, paths = rng.integers(1, 4, 2)
    shape = features, folds
    table = FeatureTable(numbers(rng, shape), rng.random(shape) + 0.1, rng.random(shape) < 0.8, 2)
    fold, kind = rng.integers(0, folds, problems), rng.integers(0, 3, problems)
    sums = numbers(rng, problems), rng.random(problems) * 10
    path = np.sort(rng.integers(0, paths, problems))
    z = [numbers(rng, (4 + problems, features + 5), np.float32) for _ in range(paths)]
    row = 4 + np.concatenate([np.arange(np.count_nonzero(path == one)) for one in range(paths)])
    rows = 4 + np.bincount(path, minlength=paths)[path]
    signals = np.full((features if rng.random() < 0.5 else 0, problems), 7.0)
    results = DiagonalResults(numbers(rng, problems), numbers(rng, (problems, rows.max())), signals)
    given = DiagonalProblems(fold, kind, rng.choice([0.0, 1.0], problems), *sums, 1e-10)
    return table, given, DiagonalPaths(z, path, row, rows), results


@given(seed=SEEDS, features=st.integers(0, 1200), problems=PROBLEMS)
@every_shape
def test_make_diagonals(seed, features, problems):
    rng = np.random.default_rng(seed)
    moments = numbers(rng, (features, 3, problems))
    moments[:, 2] = np.abs(moments[:, 2]) * 10
    diagonals = np.full((features, problems), 7.0)
    assert_same_bits(
        "make_diagonals", moments, *diagonal_records(rng, features, problems), diagonals, outputs=[3, 4, 5]
    )


@given(seed=SEEDS, dtype=FLOATS, index_type=INDICES, features=st.integers(0, 1200), problems=PROBLEMS)
@every_shape
def test_diagonals_of_features(seed, dtype, index_type, features, problems):
    rng = np.random.default_rng(seed)
    n_rows = rng.integers(1, 100)
    matrix = sparse_rows(rng, features, n_rows, dtype, index_type)
    row_factors = np.abs(numbers(rng, (n_rows, 2, problems)))
    case, products = diagonal_records(rng, features, problems), numbers(rng, (n_rows, problems))
    assert_same_bits("diagonals_of_features", matrix, row_factors, *case, products, outputs=[4, 5, 6])


@given(seed=SEEDS, dtype=FLOATS, index_type=INDICES, features=st.integers(0, 300), n_classes=st.integers(1, 20))
@every_shape
def test_add_class_gram(seed, dtype, index_type, features, n_classes):
    rng = np.random.default_rng(seed)
    n_rows = rng.integers(1, 100)
    matrix = sparse_rows(rng, features, n_rows, dtype, index_type)
    residuals = np.zeros((n_rows, -(-n_classes // 8) * 8))
    residuals[:, :n_classes] = numbers(rng, (n_rows, n_classes))
    mean, factor, gram = numbers(rng, features), np.abs(numbers(rng, features)), numbers(rng, (n_classes, n_classes))
    sums = numbers(rng, n_classes)
    assert_same_bits("add_class_gram", matrix, residuals, sums, mean, factor, gram, outputs=[5])


@given(**DENSE, problems=PROBLEMS)
@every_shape
def test_score_rows(seed, dtype, rows, width, problems):
    rng = np.random.default_rng(seed)
    x = dense_rows(rng, rows, width, dtype)
    weights, intercept = numbers(rng, (problems, width)), numbers(rng, problems)
    assert_same_bits("score_rows", x, weights, intercept, np.empty((rows, problems)), outputs=[3])


@given(**SPARSE, problems=PROBLEMS, order=st.sampled_from("CF"))
@every_shape
def test_score_csr(seed, dtype, index_type, rows, width, problems, order):
    rng = np.random.default_rng(seed)
    matrix = sparse_rows(rng, rows, width, dtype, index_type)
    weights, intercept = np.asarray(numbers(rng, (problems, width)), order=order), numbers(rng, problems)
    assert_same_bits("score_csr", matrix, weights, intercept, np.empty((rows, problems)), outputs=[3])


# Checked rows are of the variant that checked them, and another thread could choose another variant meanwhile.
@pytest.mark.thread_unsafe
@given(**SPARSE, lanes=st.sampled_from([1, 4, 8]), intercept=st.booleans())
@every_shape
def test_descent_and_gram_products_of_csr_rows(seed, dtype, index_type, rows, width, lanes, intercept):
    rng = np.random.default_rng(seed)
    matrix = sparse_rows(rng, rows, width, dtype, index_type)

    def checked():
        return kernels.engine.CheckedCsr(matrix, width)

    assert_same_bits(
        "descend_csr", checked, *descent_case(rng, np.ones(rows) * 9, width, lanes, intercept), outputs=[2, 3]
    )
    chosen = WeightedRows(rng.permutation(rows), rng.random(rows), intercept)
    along, out = numbers(rng, (2, width + intercept))
    assert_same_bits("add_gram_product_csr", checked, chosen, along, out, outputs=[3])


@given(**{**SPARSE, "width": st.integers(1, 70)})
@every_shape
def test_add_gram_csr(seed, dtype, index_type, rows, width):
    rng = np.random.default_rng(seed)
    matrix = sparse_rows(rng, rows, width, dtype, index_type)
    factors, pairs, squares = rng.random(rows), numbers(rng, (width, width)), numbers(rng, width)
    assert_same_bits("add_gram_csr", matrix, factors, pairs, squares, outputs=[2, 3])


@given(**DENSE, lanes=st.sampled_from([1, 4, 8]), intercept=st.booleans())
@every_shape
def test_descent_and_gram_products_of_dense_rows(seed, dtype, rows, width, lanes, intercept):
    rng = np.random.default_rng(seed)
    x = dense_rows(rng, rows, width, dtype)
    assert_same_bits("descend_rows", x, *descent_case(rng, np.ones(rows) * 9, width, lanes, intercept), outputs=[2, 3])
    chosen = WeightedRows(rng.permutation(rows), rng.random(rows), intercept)
    along, out = numbers(rng, (2, width + intercept))
    assert_same_bits("add_gram_product_rows", x, chosen, along, out, outputs=[3])


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("width", [1, 100, 2049, 2100, 5000, 40000])
def test_of_a_row_of_zeros_the_sign_alone_may_differ(kernel, dtype, width, rng):
    """Padding is not as long in all kernels, and -0 + 0 is 0: this is the one difference between them."""
    x = rng.choice([0.0, -0.0], (9, width)).astype(dtype)
    x[0] = -0.0
    length, columns = next_power_of_two(width), rng.integers(0, next_power_of_two(width), 40)
    out = np.full((9, 40), 7, dtype)
    kernels.engine.project_rows(x, np.ones(width, dtype), length, columns, np.ones(40, dtype), out)
    assert not out.any()


MODELS = {
    "uniform": ISRHT(16, selection="uniform", random_state=0),
    "importance": ISRHT(16, selection="importance", random_state=0),
    "top": ISRHT(16, selection="top", random_state=0),
    "supervised": ISRHT(16, selection="supervised", random_state=0),
    "centred": ISRHT(16, center=True, random_state=0),
    "sketched": ISRHT(16, sketch_size=64, random_state=0),
    "classifier": ISRHTClassifier(16, selection="supervised", random_state=0),
    "boosted classifier": ISRHTClassifier(8, selection="boosted", random_state=0),
    "boosted": BoostedISRHT(8, random_state=0),
    "embedding": SparseEmbedding(16, diagonal="z", random_state=0),
    "Fourier": HadamardFourierFeatures(64, random_state=0),
    "SVM": LinearSVMCV(),
}


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("container", [np.array, sp.csr_array])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_a_model_does_not_depend_on_the_kernels(name, container, dtype, n_classes):
    """The same seed chooses the same columns and the same C, and answers with the same bits."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((200, 300)) * (rng.random((200, 300)) < 0.2)
    scores = X @ rng.standard_normal((300, n_classes)) + rng.standard_normal((200, n_classes))
    X, y = container(X, dtype=dtype), scores.argmax(axis=1)
    found = [facts_of(kernel, name, X, y) for kernel in kernels.available()]
    assert found[0].keys() & {"selected_columns_", "C_", "coef_", "signs_", "frequencies_", "diagonal_"}
    for facts in found[1:]:
        assert facts.keys() == found[0].keys()
        for attribute, value in found[0].items():
            assert_array_equal(facts[attribute], value, err_msg=attribute)


def facts_of(kernel, name, X, y):
    """Return the numbers and arrays that a model has learned under some kernels, and what it says of its own rows."""
    before = kernels.active()
    kernels.use(kernel)
    try:
        model = clone(MODELS[name]).fit(X, y)
        answers = model.decision_function(X) if hasattr(model, "decision_function") else model.transform(X)
    finally:
        kernels.use(before)
    learned = {name: value for name, value in vars(model).items() if name.endswith("_")}
    facts = {name: value for name, value in learned.items() if isinstance(value, np.ndarray | float | int)}
    return facts | {"answers": answers.toarray() if sp.issparse(answers) else answers}
