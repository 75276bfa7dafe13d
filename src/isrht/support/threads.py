"""Threads: how many a user means, how they share work, and how BLAS is held to one of them.

Kernels are single-threaded and release Python's lock, so Python's threads share rows or features among them. On
matrices as small as blocks of rows a BLAS with threads of its own would only get in their way, and its sums would
depend on how many there are.
"""

from __future__ import annotations

import os
import queue
import threading
from collections import defaultdict, deque
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import contextmanager
from numbers import Integral


def worker_count(workers):
    """Return the number of threads that ``workers`` means, as :func:`scipy.fft.fft` reads it.

    Parameters
    ----------
    workers : int or None
        None is 1, -1 is all cores, -2 all but one.

    Returns
    -------
    int
    """
    if workers is None:
        return 1
    if not isinstance(workers, Integral):
        raise TypeError(f"workers must be an integer or None, got {workers!r}")
    count = _cpu_count() + 1 + workers if workers < 0 else workers
    if count < 1:
        raise ValueError(
            f"workers must be positive, or from -1 to -{_cpu_count()} to count back from all cores, got {workers}"
        )
    return count


def job_count(n_jobs):
    """Return the number of threads that ``n_jobs`` means, as scikit-learn reads it.

    ``joblib.effective_n_jobs`` would not do: within a process of a pool it forbids processes, and these are threads.

    Parameters
    ----------
    n_jobs : int or None
        None is 1, -1 is all cores, -2 all but one; there is always at least one.

    Returns
    -------
    int
    """
    if n_jobs is None:
        return 1
    if not isinstance(n_jobs, Integral):
        raise TypeError(f"n_jobs must be an integer or None, got {n_jobs!r}")
    if n_jobs == 0:
        raise ValueError("n_jobs=0 has no meaning: use a positive number, -1 for all cores, or None for one")
    return n_jobs if n_jobs > 0 else max(1, _cpu_count() + 1 + n_jobs)


def _cpu_count():
    """Return the number of cores that this process may use. joblib is imported only for those who count by cores."""
    import joblib

    return joblib.cpu_count()


def in_threads(function, items, n_jobs=None):
    """Yield ``function(item)`` for all items, computed by ``n_jobs`` threads, in the order of the items.

    The thread that calls is one of those that compute, each of which takes the next item whenever it is done with one.
    Nothing is yielded before all items have been begun.

    Parameters
    ----------
    function : callable
    items : sequence
    n_jobs : int, default=None
        Threads, as in scikit-learn.
    """
    workers = min(job_count(n_jobs), len(items))
    if workers <= 1:
        yield from map(function, items)
        return
    results = deque(Future() for _ in items)
    waiting = deque(zip(results, items, strict=True))

    def compute():
        while waiting:
            try:
                result, item = waiting.popleft()
            except IndexError:  # another thread was faster
                return
            if not _settle(result, function, item):
                waiting.clear()

    with lent_threads(workers - 1) as pool:
        helping = [pool.submit(compute) for _ in range(workers - 1)]
        try:
            compute()
            while results:
                yield results.popleft().result()
        finally:
            waiting.clear()
            _wait_for(helping)


def _settle(future, function, *given):
    """Give a future what a function returns, or the error that it raises. Say whether it returned.

    What is no error, such as Ctrl-C, is raised here and now, too.
    """
    try:
        future.set_result(function(*given))
    except BaseException as error:
        future.set_exception(error)
        if not isinstance(error, Exception):
            raise
        return False
    return True


def _wait_for(futures):
    """Cancel what has not begun, and wait for the rest, whatever comes of it."""
    wait([future for future in futures if not future.cancel()])


class _Idle:
    """Pools of threads that nobody uses now, by how many threads they have.

    To start a thread takes a tenth of a millisecond, which is as long as many a piece of work. A process that was
    forked has none of the threads of its parent.
    """

    def __init__(self):
        self.pools = defaultdict(list)
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(after_in_child=self.pools.clear)


_idle = _Idle()


@contextmanager
def lent_threads(count):
    """Lend a pool of threads. Whoever borrows it has to wait for what it does before giving it back."""
    try:
        pool = _idle.pools[count].pop()
    except IndexError:
        pool = ThreadPoolExecutor(count, thread_name_prefix="isrht")
    try:
        yield pool
    finally:
        _idle.pools[count].append(pool)


# Among the items of a stream: the results of those before it are taken before the next one is asked for.
PAUSE = object()


def stream_in_threads(function, items, workers):
    """Yield ``function(item)`` for items that are made one after the other, in their order, computed by threads.

    The thread that calls makes the items, and is one of those that compute: whenever all others have an item under way,
    and one more waits, it takes the next itself. A thread that only handed out items and took results would stop the
    others each time that it wakes up, because threads of Python take turns. Some results more than there are threads
    may wait for one before them, so that nobody has to wait for the slowest thread after every item.

    Parameters
    ----------
    function : callable
    items : iterable
        Some of them may be ``PAUSE``: what others work on has to be done before the maker of the items goes on.
    workers : int
        Threads; one is the thread that calls.
    """
    if workers == 1:
        # Neither keeps an item while the next one is made, as a loop would.
        yield from map(function, filter(lambda item: item is not PAUSE, items))
        return
    under_way = deque()
    with lent_threads(workers - 1) as pool:
        try:
            for item in items:
                if item is PAUSE:
                    for task in reversed(under_way):
                        task.take_over()
                    while under_way:
                        yield under_way.popleft().result()
                    continue
                task = _Task(function, item)
                del item
                under_way.append(task)
                if sum(not other.done() for other in under_way) > workers:
                    task.compute()
                else:
                    task.start_in(pool)
                del task
                while under_way and (under_way[0].done() or len(under_way) > 2 * workers + 1):
                    yield under_way.popleft().result()
            while under_way:
                yield under_way.popleft().result()
        finally:
            _wait_for([task.future for task in under_way])


class _Task:
    """One item of a stream, which is let go of as soon as it was computed, and its result or error."""

    def __init__(self, function, item):
        self._function, self._items, self.future = function, [item], Future()

    def start_in(self, pool):
        """Let a thread of a pool compute it."""
        self.future = pool.submit(self._result)

    def compute(self):
        """Compute it here and now; an error is raised when its turn has come."""
        self.future = Future()
        _settle(self.future, self._result)

    def take_over(self):
        """Compute it here, if no other thread has begun with it."""
        if self.future.cancel():
            self.compute()

    def done(self):
        return self.future.done()

    def result(self):
        return self.future.result()

    def _result(self):
        return self._function(self._items.pop())


def read_ahead(items, count):
    """Yield items that a thread makes ahead of those who use them, up to ``count`` of them.

    An error comes where its item would have come. The thread ends when nobody wants more.
    """
    waiting, stopped = queue.Queue(maxsize=count), threading.Event()

    def offer(what):
        while not stopped.is_set():
            try:
                return waiting.put(what, timeout=0.1)
            except queue.Full:
                continue

    def make():
        try:
            for item in items:
                offer((item, None))
                if stopped.is_set():
                    return
                del item
            offer((_END, None))
        except BaseException as error:
            offer((_END, error))

    maker = threading.Thread(target=make, name="isrht-read-ahead", daemon=True)
    maker.start()
    try:
        while True:
            item, error = waiting.get()
            if error is not None:
                raise error
            if item is _END:
                return
            yield item
            del item
    finally:
        stopped.set()
        maker.join()


_END = object()


class _BlasThreads:
    """Counts those who want BLAS held to one thread: the first to come sets it, the last to leave restores it."""

    def __init__(self):
        self.lock = threading.Lock()
        self.users = 0
        self.limits = None
        self.libraries = None

    def hold(self):
        """Hold BLAS to one thread; return the limits that were there before."""
        if self.libraries is None:  # looking for them takes milliseconds, and NumPy's and SciPy's are loaded by now
            from threadpoolctl import ThreadpoolController

            self.libraries = ThreadpoolController()
        return self.libraries.limit(limits=1, user_api="blas")


_blas = _BlasThreads()


@contextmanager
def one_blas_thread():
    """Hold BLAS to one thread within the context, also when several threads of this process ask for it at once.

    ``n_jobs`` threads share the rows already, and on matrices this small more threads only get in each other's way. It
    also makes the result the same, to the bit, for any number of jobs.
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
