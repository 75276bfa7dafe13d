"""A kernel that gets no memory says so, whatever the variant: exceptions pass through the compiled code."""

import os
import subprocess
import sys

import pytest

# The arrays are there before the limit; the kernels' own sums, of several times their size, are what it does not allow.
LIMITED = """
import resource
import numpy as np
from isrht import kernels
from isrht.kernels.records import CsrRows

problems = 2**20
weights, intercept, out = np.zeros((2, problems)).T, np.zeros(problems), np.zeros((1, problems))  # side by side
dense, rows = np.ones((1, 2)), np.zeros((problems, 2))
sparse = CsrRows(np.ones(1), np.zeros(1, np.int32), np.array([0, 1], np.int32))
used = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (used + 2**20, used + 2**20))
for call in (lambda: kernels.engine.score_rows(dense, rows, intercept, out),
             lambda: kernels.engine.score_csr(sparse, weights, intercept, out)):
    try:
        call()
    except MemoryError:
        print("MemoryError")
print(kernels.active())
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="needs /proc, and limits that are kept")
@pytest.mark.skipif(
    "libasan" in os.environ.get("LD_PRELOAD", ""), reason="sanitizers need memory, too, and wait for it"
)
def test_a_kernel_without_memory_raises(kernel):
    if kernel == "numpy":
        pytest.skip("NumPy's own errors are tested by NumPy")
    environment = {**os.environ, "ISRHT_KERNEL": kernel}
    command = [sys.executable, "-c", LIMITED]
    run = subprocess.run(command, capture_output=True, text=True, env=environment, check=False, timeout=60)
    assert run.returncode == 0, run.stderr
    assert run.stdout.split() == ["MemoryError", "MemoryError", kernel]
