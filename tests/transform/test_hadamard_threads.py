"""The transform in threads and processes, and by the kernels that the environment names."""

import multiprocessing
import os
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from slow_fwht import slow_fwht

from isrht import kernels
from isrht.transform.hadamard import WORTH_A_THREAD, fwht


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
        ((12 * 2**14,), 0),
        ((2, 28 * 2**12), 1),
        ((300, 96), 1),
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
@pytest.mark.filterwarnings("ignore:.*fork.*:RuntimeWarning")  # JAX warns, too, where a test has imported it
def test_other_processes_after_use(method, rng):
    if method not in multiprocessing.get_all_start_methods():
        pytest.skip(f"this system cannot {method}")
    x = rng.standard_normal((2048, 1024), np.float32)
    assert x.size >= 2 * WORTH_A_THREAD
    expected = fwht(x, workers=2)
    with multiprocessing.get_context(method).Pool(2) as pool:
        for result in pool.map_async(_child, [x] * 4).get(timeout=60):
            assert_array_equal(result, expected)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system cannot fork")
def test_a_fork_that_never_transforms_ends_in_order():
    """It has the helpers of its parent in memory, but none of their threads, for which it must not wait."""
    script = f"""
import os, sys, warnings
import numpy as np
from isrht import fwht
fwht(np.ones((2, {WORTH_A_THREAD})), workers=2)
warnings.simplefilter("ignore")
child = os.fork()
if child == 0:
    sys.exit(7)
print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""
    out = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True, timeout=60)
    assert out.stdout.strip() == "7"


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
