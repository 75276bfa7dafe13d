"""Sources of ten times the memory that a process may take."""

import os
import shutil
import subprocess
import sys

import numpy as np
import pytest

N_FILES, FILE_ROWS, WIDE = 192, 125, 4096

LIMITED = """
import pathlib, resource, sys
import numpy as np
from isrht import ISRHTClassifier, RowSource

class Files:
    def __init__(self, folder):
        self.paths = sorted(pathlib.Path(folder).glob("X*.npy"))

    def __iter__(self):
        for path in self.paths:
            X = np.load(path)
            yield X, X[:, :500].sum(axis=1) > 0

folder, kind, n_jobs, allowed = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
model = {
    "supervised": ISRHTClassifier(32, selection="supervised", cv=2, random_state=0, n_jobs=n_jobs, Cs=[0.01, 0.1]),
    "given C": ISRHTClassifier(32, selection="supervised", C=0.1, random_state=0, n_jobs=n_jobs),
    "top": ISRHTClassifier(32, selection="top", scale="maxabs", random_state=0, n_jobs=n_jobs, Cs=[0.01, 0.1, 1]),
    "boosted": ISRHTClassifier(1, selection="boosted", random_state=0, n_jobs=n_jobs),
}[kind]
warm = np.random.default_rng(0).standard_normal((300, 64))
model.fit(warm, warm[:, 0] > 0)  # modules, threads and buffers are there before the limit is set
used = int(next(line for line in open("/proc/self/status") if line.startswith("VmData")).split()[1]) * 1024
resource.setrlimit(resource.RLIMIT_DATA, (used + allowed, used + allowed))
source, labels = RowSource(Files(folder)), None
%s
model.fit(source, labels)
print(model.score(source, source.labels if labels is None else labels))
"""
MAPPED = """
labels = source.labels
source = np.memmap(folder + "/all", dtype=float, mode="r", shape=source.shape)
"""
LOADED = """
source, labels = (np.concatenate(parts) for parts in zip(*Files(folder)))
"""
limits = pytest.mark.skipif(not os.path.exists("/proc/self/status"), reason="needs /proc and RLIMIT_DATA")


@pytest.fixture(scope="module")
def gigabyte(tmp_path_factory):
    """Files of 4 MB each, and one of all of them; the classes are easy to tell apart."""
    folder = tmp_path_factory.mktemp("gigabyte")
    rng = np.random.default_rng(0)
    X = rng.standard_normal((FILE_ROWS, WIDE))
    with open(folder / "all", "wb") as whole:
        for i in range(N_FILES):
            part = np.roll(X, 37 * i, axis=0) + 0.01 * i
            part[:, :500] += np.where(rng.random((FILE_ROWS, 1)) < 0.5, 1, -1)
            np.save(folder / f"X{i:03}.npy", part)
            part.tofile(whole)
    yield folder
    shutil.rmtree(folder)


def train_under_limit(folder, tmp_path, kind, n_jobs=1, source=""):
    """Train with a tenth of the size of the data for everything that the process allocates from then on.

    Every further thread may hold a block of rows of its own, 16 MB.
    """
    allowed = N_FILES * FILE_ROWS * WIDE * 8 // 10 + (n_jobs - 1) * 2**24
    environment = {**os.environ, "TMPDIR": str(tmp_path), "OPENBLAS_NUM_THREADS": "1"}
    if n_jobs > 1:  # glibc gives every thread a heap that keeps what it freed; this returns large blocks at once
        environment |= {"MALLOC_MMAP_THRESHOLD_": str(2**20)}
    run = [sys.executable, "-c", LIMITED % source, str(folder), kind, str(n_jobs), str(allowed)]
    return subprocess.run(run, capture_output=True, text=True, env=environment, timeout=300, check=False)


@limits
@pytest.mark.parametrize(
    ("kind", "n_jobs", "source"),
    [("given C", 2, ""), ("boosted", 1, ""), ("supervised", 1, MAPPED)],
)
def test_train_on_ten_times_the_memory_there_is(kind, n_jobs, source, gigabyte, tmp_path):
    run = train_under_limit(gigabyte, tmp_path, kind, n_jobs, source)
    assert run.returncode == 0, run.stderr
    assert float(run.stdout) > 0.85
    assert os.listdir(tmp_path) == []


@limits
def test_the_limit_is_one(gigabyte, tmp_path):
    run = train_under_limit(gigabyte, tmp_path, "top", source=LOADED)
    assert run.returncode != 0
    assert "MemoryError" in run.stderr
