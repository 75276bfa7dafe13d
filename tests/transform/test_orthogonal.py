import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from isrht import kernels
from isrht.kernels import _reference
from isrht.transform.lengths import FAST_LENGTHS
from isrht.transform.orthogonal import OrthogonalRotation, step_length, step_starts
from isrht.transform.signs import counted_signs

PINNED = [
    -21.31554270503157,
    -25.134859729817595,
    -30.77785902406423,
    -43.302290914434735,
    -33.50650652063966,
    -64.39909491899633,
]
WIDTHS = [1, 2, 3, 7, 12, 37, 100, 384, 1000, 1536, 2049, 5000]


def rotated(rotation, X, **options):
    out = np.full(X.shape, np.nan, X.dtype)
    rotation.apply(X, out, **options)
    return out


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("n_rounds", [1, 3])
def test_rotations_are_orthogonal_and_invertible(kernel, width, n_rounds, rng):
    X = rng.standard_normal((9, width))
    rotation = OrthogonalRotation.drawn(width, n_rounds, 5)
    Z = rotated(rotation, X)
    assert_allclose(Z @ Z.T, X @ X.T, rtol=1e-12, atol=1e-11 * width)
    assert_allclose(rotated(rotation, Z, inverse=True), X, rtol=0, atol=1e-13 * np.sqrt(width))


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("inverse", [False, True])
def test_every_kernel_gives_the_bits_of_the_twin(kernel, width, dtype, inverse, rng):
    X = rng.standard_normal((37, width + 3)).astype(dtype)[::-2, 2:-1]
    rotation = OrthogonalRotation.drawn(width, 2, 1)
    expected = np.empty(X.shape, dtype)
    _reference.rotate_rows(X, rotation.steps(dtype), expected, inverse)
    for workers in (1, 3):
        assert_array_equal(rotated(rotation, X, inverse=inverse, workers=workers), expected)
    memory = X.copy()
    rotation.apply(memory, memory, inverse=inverse)
    assert_array_equal(memory, expected)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("width", WIDTHS)
def test_kernels_tell_whether_all_is_finite(kernel, width, dtype, rng):
    X = rng.standard_normal((37, width)).astype(dtype)
    rotation = OrthogonalRotation.drawn(width, 2, 1)
    gaps = np.empty((37, width + 1), dtype)[:, :-1]
    largest = np.zeros((37, width), dtype)
    largest[-1, -1] = np.finfo(dtype).max / 4
    with np.errstate(over="ignore"):
        assert all(rotation.apply(rows, out) for rows in (X, largest) for out in (X.copy(), gaps))
    for value in (np.nan, np.inf, -np.inf):
        for row, column in [(0, 0), (36, width - 1), (20, width // 2)]:
            wrong = X.copy()
            wrong[row, column] = value
            with np.errstate(invalid="ignore"):
                results = [rotation.apply(wrong, out, workers=2) for out in (X.copy(), gaps)]
            assert results == [False, False]


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("inverse", [False, True])
@pytest.mark.parametrize("width", WIDTHS)
def test_rows_that_overflow_are_told_from_those_that_nearly_do(kernel, width, dtype, inverse, rng):
    """Rows of every size up to the largest, alone, so that each has to be seen by itself."""
    rotation = OrthogonalRotation.drawn(width, 2, 1)
    signs = rng.choice(np.array([-1, 1], dtype), width)
    answers = set()
    for below in range(30):
        row = np.ldexp(signs, np.finfo(dtype).maxexp - 1 - below)[None]
        out = np.empty_like(row)
        with np.errstate(over="ignore", invalid="ignore"):
            finite = rotation.apply(row, out, inverse=inverse)
        assert finite == np.isfinite(out).all()
        answers.add(finite)
    assert True in answers
    assert False in answers or width <= 3


def test_one_round_is_signs_and_the_transform(rng):
    """Of a width that is a power of two."""
    X = rng.standard_normal((3, 64))
    expected = X * counted_signs(9, 0, 64)
    _reference.transform(expected[:, :, None], 1 / 8)
    assert_array_equal(rotated(OrthogonalRotation.drawn(64, 1, 9), X), expected)


def test_steps_cover_every_width():
    for width in range(1, 700):
        length = step_length(width)
        starts = step_starts(width, length)
        covered = np.zeros(width, int)
        for start in starts:
            covered[start : start + length] += 1
        assert covered.min() >= 1
        assert len(starts) == (1 if length == width else 2)


def test_steps_overlap_in_half_of_a_row():
    assert [step_length(width) for width in (1, 3, 100, 700, 784, 960, 1000, 1500)] == [
        1, 2, 96, 640, 768, 960, 768, 1408,
    ]  # fmt: skip
    for width in range(12, 3000):
        length = step_length(width)
        assert length in FAST_LENGTHS
        assert 4 * length >= 3 * width


@pytest.mark.parametrize("width", [100, 1000, 1500, 1536])
def test_all_places_mix(width):
    """After two rounds every input has reached every output, each with about its share."""
    Z = rotated(OrthogonalRotation.drawn(width, 2, 0), np.eye(width))
    assert np.abs(Z).max() < 6.5 / np.sqrt(width)
    assert_allclose((Z**4).mean() * width**2, 3, rtol=0.15)  # the kurtosis of a normal distribution


def test_a_rotation_is_pinned():
    """Vectors rotated yesterday match those of today."""
    Z = rotated(OrthogonalRotation.drawn(100, 2, 7), np.arange(100.0)[None])
    assert_allclose(Z[0, :6], PINNED, rtol=1e-12)


def test_kernels_check_their_arguments(kernel, rng):
    if kernel == "numpy":
        pytest.skip("NumPy checks its own shapes")
    X = rng.standard_normal((3, 20))
    steps = OrthogonalRotation.drawn(20, 1, 0).steps(X.dtype)
    engine = kernels.engine
    for wrong in (
        steps._replace(starts=np.array([1])),
        steps._replace(starts=np.array([-1])),
        steps._replace(starts=np.array([0, 0])),
        steps._replace(signs=np.ones((1, 40))),
        steps._replace(signs=np.ones((1, 10))),
        steps._replace(matrix=steps.matrix._replace(cycle=7)),
        steps._replace(matrix=steps.matrix._replace(order=28)),
        steps._replace(matrix=steps.matrix._replace(added=np.array([1, 2, 3, 99]))),
        steps._replace(matrix=steps.matrix._replace(added=np.array([1]))),
    ):
        with pytest.raises(ValueError, match="step|length|cycle|order|distance|differ"):
            engine.rotate_rows(X, wrong, X, False)
    with pytest.raises(ValueError, match="out has the wrong shape"):
        engine.rotate_rows(X, steps, X[:2].copy(), False)
    with pytest.raises(ValueError, match="contiguous"):
        engine.rotate_rows(X, steps, np.empty((20, 3)).T, False)
