"""
Out of core, under a memory limit
=================================

Train on rows that the process could not hold: they are generated, or read from files, block by block in every pass. The
model is the one that memory would give. Here another process may use 300 MB at most, and is shown rows of 600 MB.
"""

import json
import subprocess
import sys

import matplotlib.pyplot as plt
import numpy as np

from isrht import ISRHTClassifier, RowSource


# %%
# A source of rows is any function that yields blocks ``(X, y)``, the same ones in every pass: files, a database, a
# generator.
def blocks(n_blocks=4, rows=1000, features=512):
    for number in range(n_blocks):
        rng = np.random.default_rng(number)
        y = rng.integers(0, 2, size=rows)
        X = rng.normal(size=(rows, features))
        X[:, :20] += 0.25 * (2 * y[:, np.newaxis] - 1)
        yield X, y


# %%
# First the same rows in both ways. The columns are the same ones, C is the same, and so are the weights, to rounding.
# (``cache=None`` lets a fit hold none of the rows. It would hold up to 128 MB, and be one in memory.)
X, y = (np.concatenate(parts) for parts in zip(*blocks(), strict=True))
in_memory = ISRHTClassifier(32, selection="supervised", random_state=0).fit(X, y)
elsewhere = ISRHTClassifier(32, selection="supervised", random_state=0).fit(RowSource(blocks, cache=None))
print("same columns:", np.array_equal(in_memory.projection_.selected_columns_, elsewhere.projection_.selected_columns_))
print("same C:      ", in_memory.C_ == elsewhere.C_)
print(f"weights differ by {np.abs(in_memory.coef_ - elsewhere.coef_).max():.1e}")

# %%
# Then far more rows than memory, in a process of its own whose memory is limited by the system.
PROGRAM = r"""
import json, re, resource, sys, time
import numpy as np
from isrht import ISRHTClassifier, RowSource

def blocks(n_blocks=int(sys.argv[1]), rows=5000, features=512):
    for number in range(n_blocks):
        rng = np.random.default_rng(number)
        y = rng.integers(0, 2, size=rows)
        X = rng.standard_normal(size=(rows, features), dtype=np.float32)
        X[:, :20] += 0.25 * (2 * y[:, np.newaxis] - 1)
        yield X, y

allowed = 300 * 2**20
resource.setrlimit(resource.RLIMIT_DATA, (allowed, allowed))
started = time.perf_counter()
model = ISRHTClassifier(32, selection="uniform", C=1.0, random_state=0).fit(RowSource(blocks, cache=None))
peak = int(re.search(r"VmHWM:\s*(\d+)", open("/proc/self/status").read()).group(1)) / 1024
print(json.dumps({"seconds": time.perf_counter() - started, "peak": peak}))
"""
sizes, peaks = [6, 20, 60], []
for n_blocks in sizes:
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, str(n_blocks)], capture_output=True, text=True, check=True,
        env={"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"},
    )  # fmt: skip
    result = json.loads(done.stdout)
    peaks.append(result["peak"])
    data = n_blocks * 5000 * 512 * 4 / 2**20
    print(f"{data:6,.0f} MB of rows: {result['seconds']:.1f} s, {result['peak']:.0f} MB of memory")

# %%
figure, axis = plt.subplots()
data = np.array(sizes) * 5000 * 512 * 4 / 2**20
axis.plot(data, data, "--", color="C6", label="the rows themselves")
axis.plot(data, peaks, "o-", label="memory of the process, all of it")
axis.set(xlabel="MB of rows", ylabel="MB of memory", ylim=(0, None))
axis.set_title("Memory does not grow with the rows")
axis.legend()
