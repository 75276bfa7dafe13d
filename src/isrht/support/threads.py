"""Threads: how many are meant, who shares the work, and BLAS held to one of them.

Kernels are single-threaded and release the GIL, so Python's threads share rows or features among them. On matrices as
small as blocks of rows a BLAS with threads of its own would only get in their way, and its sums would depend on how
many there are.
"""

from __future__ import annotations

import threading
from collections import deque
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager


def worker_count(workers):
    """The number of threads meant by ``workers``, as :func:`scipy.fft.fft` reads it."""
    if workers is None:
        return 1
    cores = _cpu_count()
    count = cores + 1 + workers if workers < 0 else workers
    if count < 1:
        raise ValueError(
            f"workers must be positive, or from -1 to -{cores} to count back from all cores, got {workers}"
        )
    return count


def job_count(n_jobs):
    """The number of threads meant by ``n_jobs``, as scikit-learn reads it.

    Not ``joblib.effective_n_jobs``: within a process of a pool it would forbid processes, and these are threads.
    """
    if n_jobs is None:
        return 1
    if n_jobs == 0:
        raise ValueError("n_jobs=0 has no meaning: use a positive number, -1 for all cores, or None for one")
    return n_jobs if n_jobs > 0 else max(1, _cpu_count() + 1 + n_jobs)


def _cpu_count():
    """Return the number of cores that this process may use; joblib is imported only by those who ask for all cores."""
    import joblib

    return joblib.cpu_count()


def in_threads(function, items, n_jobs=None):
    """``map`` by ``n_jobs`` threads; results come in the order of the items."""
    workers = job_count(n_jobs)
    if workers == 1 or len(items) == 1:
        yield from map(function, items)
        return
    with ThreadPoolExecutor(workers) as pool:
        under_way = deque(pool.submit(function, item) for item in items)
        while under_way:
            yield under_way.popleft().result()


class _BlasThreads:
    """Counts who wants BLAS held to one thread: the first to come sets it, the last to leave restores it."""

    def __init__(self):
        self.lock = threading.Lock()
        self.users = 0
        self.limits = None
        self.libraries = None

    def hold(self):
        if self.libraries is None:  # looking for them takes milliseconds, and NumPy's and SciPy's are loaded by now
            from threadpoolctl import ThreadpoolController

            self.libraries = ThreadpoolController()
        return self.libraries.limit(limits=1, user_api="blas")


_blas = _BlasThreads()


@contextmanager
def one_blas_thread():
    """Hold BLAS to one thread, also when several threads of this process ask for it at overlapping times.

    Rows are shared among ``n_jobs`` threads already, and on matrices this small more threads only get in each
    other's way. It also makes the result the same, to the bit, for any number of jobs.
    """
    with _blas.lock:
        if _blas.users == 0:
            _blas.limits = _blas.hold()
        _blas.users += 1
    try:
        yield
    finally:
        with _blas.lock:
            _blas.users -= 1
            if _blas.users == 0:
                _blas.limits.restore_original_limits()
