import multiprocessing
import os
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.linalg import hadamard

import isrht
from isrht import kernels
from isrht.kernels import _reference
from isrht.transform import hadamard as fwht_module
from isrht.transform.hadamard import fwht, next_power_of_two

FLOATS = [np.float32, np.float64]


def slow_fwht(x, axis=-1):
    """The NumPy twin along any axis, always a copy."""
    moved = np.ascontiguousarray(np.moveaxis(x, axis, -1)).copy()
    _reference.transform(moved.reshape(-1, moved.shape[-1], 1), 1)
    return np.moveaxis(moved, -1, axis)


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("log_length", range(11))
def test_agrees_with_the_matrix(kernel, dtype, log_length, rng):
    x = rng.standard_normal((7, 2**log_length)).astype(dtype)
    expected = x.astype(np.float64) @ hadamard(2**log_length)
    assert_allclose(fwht(x), expected, rtol=0, atol=np.finfo(dtype).eps * 8 * 2**log_length)


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("log_length", range(21))
def test_every_kernel_gives_the_bits_of_the_twin(kernel, dtype, log_length, rng):
    x = rng.standard_normal((3, 2**log_length)).astype(dtype)
    assert_array_equal(fwht(x), slow_fwht(x))


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("log_length", [0, 1, 3, 6, 7, 9, 13, 16])
def test_twice_is_the_length_times_the_identity(kernel, dtype, log_length, rng):
    x = rng.integers(-8, 8, (2, 2**log_length)).astype(dtype)
    assert_array_equal(fwht(fwht(x)), x * 2**log_length)
    assert_allclose(fwht(fwht(x, norm="ortho"), norm="ortho"), x, atol=1e-4)


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("rows", range(34))
@pytest.mark.parametrize("length", [1, 2, 8, 32, 128, 512])
def test_any_number_of_rows(kernel, dtype, rows, length, rng):
    x = rng.standard_normal((rows, length)).astype(dtype)
    assert_array_equal(fwht(x), slow_fwht(x))


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("offset", range(0, 68, 4))
@pytest.mark.parametrize("length", [4, 64, 1024, 4096, 8192, 16384])
def test_any_alignment(kernel, dtype, offset, length, rng):
    size = 3 * length * np.dtype(dtype).itemsize
    memory = np.full(size + 128, 7, np.uint8)
    if offset % np.dtype(dtype).itemsize:
        offset += 4  # NumPy calls a double at 4 bytes misaligned; see the test of misaligned input
    x = memory[offset : offset + size].view(dtype).reshape(3, length)
    x[...] = rng.standard_normal(x.shape)
    expected = slow_fwht(x)
    result = fwht(x, overwrite_x=True)
    assert result is x
    assert_array_equal(result, expected)
    assert (memory[:offset] == 7).all()
    assert (memory[offset + size :] == 7).all()


def test_misaligned_input_is_copied(kernel):
    x = np.frombuffer(b"\0" + np.arange(8.0).tobytes(), np.uint8)[1:].view(np.float64)
    assert not x.flags.aligned
    assert_array_equal(fwht(x, overwrite_x=True), slow_fwht(np.arange(8.0)))


@given(
    lengths=st.lists(st.integers(0, 4), min_size=0, max_size=3),
    log_length=st.integers(0, 8),
    place=st.integers(0, 3),
    dtype=st.sampled_from(["f2", "f4", "f8", ">f4", ">f8", "i1", "i8", "u2", "?"]),
    order=st.permutations(range(4)),
    steps=st.lists(st.sampled_from([1, 1, -1, 2]), min_size=4, max_size=4),
    workers=st.sampled_from([None, 2, -1]),
)
@settings(deadline=None, max_examples=200)
def test_any_shape_axis_stride_and_type(lengths, log_length, place, dtype, order, steps, workers):
    axis = min(place, len(lengths))
    shape = [*lengths[:axis], 2**log_length, *lengths[axis:]]
    memory_order = [a for a in order if a < len(shape)]
    x = np.random.default_rng(0).integers(0, 100, [shape[a] * abs(steps[a]) for a in memory_order]).astype(dtype)
    x = x.transpose(np.argsort(memory_order))[tuple(slice(None, None, step) for step in steps[: len(shape)])]
    assert x.shape == tuple(shape)
    before = x.copy()
    result = fwht(x, axis=axis, workers=workers)
    assert_array_equal(x, before)
    assert result.dtype == (np.float32 if dtype in ("f2", "f4", ">f4") else np.float64)
    assert_array_equal(result, slow_fwht(x.astype(result.dtype), axis))


def test_the_axis_may_be_given_by_position_and_the_rest_by_name(rng):
    x = rng.standard_normal((8, 3))
    assert_array_equal(fwht(x, 0), slow_fwht(x, 0))
    with pytest.raises(TypeError, match="positional"):
        fwht(x, 0, "ortho")


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("axis", [0, 1, 2])
def test_in_place_wherever_the_memory_has_no_gaps(kernel, order, axis, rng):
    x = np.asarray(rng.standard_normal((4, 16, 8)), order=order)
    expected = slow_fwht(x, axis)
    assert fwht(x, axis=axis, overwrite_x=True) is x
    assert_array_equal(x, expected)


def test_in_place_in_rows_of_a_wider_array(kernel, rng):
    wide = rng.standard_normal((5, 40))
    view, rest = wide[:, :32], wide[:, 32:].copy()
    expected = slow_fwht(view)
    assert fwht(view, overwrite_x=True) is view
    assert_array_equal(view, expected)
    assert_array_equal(wide[:, 32:], rest)


def test_overwrite_leaves_what_cannot_be_overwritten(kernel, rng):
    for x in (rng.standard_normal((4, 8))[:, ::2], np.arange(8), rng.standard_normal(8)[::-1]):
        before = x.copy()
        fwht(x, overwrite_x=True)
        assert_array_equal(x, before)
    frozen = rng.standard_normal(8)
    frozen.flags.writeable = False
    before = frozen.copy()
    assert fwht(frozen, overwrite_x=True) is not frozen
    assert_array_equal(frozen, before)


def test_nan_and_infinity_follow_ieee(kernel):
    with np.errstate(invalid="ignore"):
        assert np.isnan(fwht(np.array([np.nan, 1.0, 2.0, 3.0]))).all()
        assert_array_equal(fwht(np.array([np.inf, 1.0])), [np.inf, np.inf])
        assert_array_equal(fwht(np.array([1.0, np.inf])), [np.inf, -np.inf])
        assert np.isnan(fwht(np.array([np.inf, np.inf]))[1])


@pytest.mark.parametrize(("length", "message"), [(12, "got 12.*zeros to 16"), (3, "got 3.*to 4"), (0, "got 0")])
def test_other_lengths_are_refused(length, message):
    with pytest.raises(ValueError, match=message):
        fwht(np.zeros((2, length)))


@pytest.mark.parametrize(
    ("x", "options", "error", "message"),
    [
        (np.zeros(4, complex), {}, TypeError, "real"),
        (np.array(["a", "b"]), {}, TypeError, "got <U1"),
        (np.array([None, 1]), {}, TypeError, "object"),
        (np.float64(1.0), {}, ValueError, "scalar"),
        (np.zeros(4), {"norm": "forward"}, ValueError, "norm.*'forward'"),
        (np.zeros(4), {"axis": 1}, ValueError, "axis 1"),
        (np.zeros(4), {"workers": 0}, ValueError, "workers.*0"),
        (np.zeros(4), {"workers": -1000}, ValueError, "workers.*-1000"),
    ],
)
def test_bad_input_is_named(x, options, error, message):
    with pytest.raises(error, match=message):
        fwht(x, **options)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("length", [1, 2, 8, 16, 256, 1024])
@pytest.mark.parametrize("inner", [2, 3, 16, 20, 33, 1001])
def test_along_an_axis_that_is_not_the_last(kernel, dtype, length, inner, rng):
    memory = rng.standard_normal(2 * length * inner + 1).astype(dtype)
    x = memory[1:].reshape(2, length, inner)
    assert_array_equal(fwht(x, axis=1), slow_fwht(x, 1))
    assert_allclose(
        fwht(x, axis=1, norm="ortho"), slow_fwht(x, 1) / np.sqrt(length), rtol=1e-5 if dtype == np.float32 else 1e-13
    )


@pytest.fixture
def always_threads(monkeypatch):
    monkeypatch.setattr(fwht_module, "WORTH_A_THREAD", 1)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize(
    ("shape", "axis"),
    [
        ((2**18,), 0),
        ((8,), 0),
        ((3, 2**17), 1),
        ((3, 4), 1),
        ((300, 1024), 1),
        ((64, 5000), 0),
        ((2, 256, 701), 1),
        ((4, 50000), 0),
        ((2, 70000, 2), 2),
    ],
)
def test_workers_give_the_same_bits(kernel, dtype, shape, axis, rng, always_threads):
    """Whether rows are shared out or, where they are few, the work within one."""
    x = rng.standard_normal(shape).astype(dtype)
    expected = slow_fwht(x, axis)
    for workers in (1, 2, 5):
        assert_array_equal(fwht(x, axis=axis, workers=workers), expected)


def test_workers_and_threads_give_the_same_bits(kernel, rng, always_threads):
    x = rng.standard_normal((37, 4096)).astype(np.float32)
    expected = fwht(x)
    assert_array_equal(fwht(x, workers=3), expected)
    assert_array_equal(fwht(x.T, axis=0, workers=2).T, expected)
    with ThreadPoolExecutor(4) as pool:
        for result in pool.map(fwht, [x] * 8):
            assert_array_equal(result, expected)


@pytest.mark.skipif(sys.platform != "linux", reason="counts the threads in /proc")
def test_helpers_end_with_the_thread_they_help(always_threads):
    if kernels.active() == "numpy":
        pytest.skip("the twin has no threads")

    def running():
        return set(os.listdir("/proc/self/task"))

    def helped():
        fwht(np.zeros((8, 1024)), workers=4)
        started.update(running() - before)

    before, started = running(), set()
    thread = threading.Thread(target=helped)
    thread.start()
    thread.join()
    assert len(started) == 4  # three help
    deadline = time.monotonic() + 20
    while started & running() and time.monotonic() < deadline:
        time.sleep(0.01)
    assert not started & running()


@pytest.mark.skipif(sys.platform != "linux", reason="needs a limit of the address space")
def test_works_where_no_thread_can_be_started():
    """A thread's stack is memory, too: 1 MB more is too little for one."""
    script = """
import resource, threading
import numpy as np
from isrht import fwht
x = np.random.default_rng(0).standard_normal((2048, 1024), np.float32)
expected, equal = fwht(x), np.empty(x.shape, bool)
pages = int(open("/proc/self/statm").read().split()[0])
limit = pages * resource.getpagesize() + 2**20
resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
try:
    threading.Thread(target=int).start()
except RuntimeError:
    fwht(x, workers=2, overwrite_x=True)
np.equal(x, expected, out=equal)
print(np.count_nonzero(equal))
"""
    out = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert out.stdout.strip() == str(2048 * 1024)


def _child(x):
    return fwht(x, workers=2)


@pytest.mark.parametrize("method", ["fork", "spawn"])
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")  # forking a threaded process is the point
def test_other_processes_after_use(method, rng):
    if method not in multiprocessing.get_all_start_methods():
        pytest.skip(f"this system cannot {method}")
    x = rng.standard_normal((2048, 1024), np.float32)
    assert x.size >= 2 * fwht_module.WORTH_A_THREAD
    expected = fwht(x, workers=2)
    with multiprocessing.get_context(method).Pool(2) as pool:
        for result in pool.map_async(_child, [x] * 4).get(timeout=60):
            assert_array_equal(result, expected)


def test_next_power_of_two():
    assert [next_power_of_two(n) for n in (0, 1, 2, 3, 4, 5, 1000)] == [1, 1, 2, 4, 4, 8, 1024]


def test_environment_chooses_the_kernels():
    script = "import isrht.kernels as k; print(k.active())"
    for name in kernels.available():
        env = os.environ | {"ISRHT_KERNEL": name}
        out = subprocess.run([sys.executable, "-c", script], env=env, capture_output=True, text=True, check=True)
        assert out.stdout.strip() == name
    env = os.environ | {"ISRHT_KERNEL": "abacus"}
    out = subprocess.run([sys.executable, "-c", script], env=env, capture_output=True, text=True)
    assert out.returncode != 0
    assert "ISRHT_KERNEL='abacus' is not available here" in out.stderr


def test_is_public():
    assert isrht.fwht is fwht
