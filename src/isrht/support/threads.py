"""Threads: how many a user means, how they share work, and how BLAS is held to one of them.

Kernels are single-threaded and release Python's lock, so Python's threads share rows or features among them. On
matrices as small as blocks of rows a BLAS with threads of its own would only get in their way, and its sums would
depend on how many there are.
"""

from __future__ import annotations

import atexit
import os
import queue
import threading
import weakref
from collections import defaultdict, deque
from contextlib import contextmanager, suppress
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


class Task:
    """A call that whoever comes first makes: a thread that helps, or the one that waits for what comes of it.

    It is lighter than a future of Python's, of which making and handing out takes as long as some of our calls.
    """

    __slots__ = ("_ended", "_error", "_function", "_items", "_result", "done")

    def __init__(self, function, item):
        self._function, self._items = function, [item]
        self._ended, self.done, self._result, self._error = threading.Lock(), False, None, None
        self._ended.acquire()

    def run(self):
        """Make the call, unless it was made or taken back, and keep what it returns or the error that it raises.

        What is no error, such as Ctrl-C, is raised here and now, too.
        """
        if not self._items:
            return
        try:
            item = self._items.pop()
        except IndexError:  # another thread was faster
            return
        except BaseException as error:  # Ctrl-C came when the item had just been taken
            self._end(error)
            raise
        try:
            self._result = self._function(item)
        except Exception as error:
            self._end(error)
        except BaseException as error:
            self._end(error)
            raise
        else:
            self._end(None)

    def take_back(self):
        """Let nobody make the call who has not begun, and wait for whoever has."""
        try:
            self._items.pop()
        except IndexError:
            self._wait()

    def result(self):
        """Return what the call has returned, or raise its error, once it was made."""
        self._wait()
        if self._error is not None:
            raise self._error
        return self._result

    @property
    def failed(self):
        """Whether the call was made and raised an error."""
        return self._error is not None

    def _end(self, error):
        self._error, self.done = error, True
        self._ended.release()

    def _wait(self):
        if not self.done:
            with self._ended:
                pass


class Crew:
    """Threads that make the calls that they are given, one after the other."""

    def __init__(self, count):
        self._calls, self._threads, self.ended = queue.SimpleQueue(), [], False
        for _ in range(count):
            self._threads.append(threading.Thread(target=_work, args=[self._calls.get], name="isrht", daemon=True))
            self._threads[-1].start()
        _at_work.add(self)

    def let(self, call):
        """Let one of the threads make a call, in its turn; when they have ended, it is made here and now."""
        if self.ended:
            call()
        else:
            self._calls.put(call)

    def end(self, patience=None):
        """End the threads, after the calls that they were given, and wait for them, whatever the ``patience``."""
        self.ended = True
        for _ in self._threads:
            self._calls.put(None)
        for thread in self._threads:
            thread.join()


def _work(next_call):
    while (call := next_call()) is not None:
        with suppress(BaseException):  # a task keeps what it raises
            call()
        del call


# Whatever has threads that are to end before the interpreter does. It would stop them in the midst of a call, for which
# a generator that nobody has closed would then wait for ever.
_at_work: weakref.WeakSet[Crew | _Ahead] = weakref.WeakSet()
# Seconds for which the end of the interpreter waits for a thread that reads.
PATIENCE = 2
ENDING = "the interpreter is ending, and reads no more"


@atexit.register
def _end_all():
    _idle.crews.clear()
    for one in list(_at_work):
        one.end(PATIENCE)


class _Idle:
    """Crews that nobody uses now, by how many threads they have.

    To start a thread takes a tenth of a millisecond, which is as long as many a piece of work. A process that was
    forked has none of the threads of its parent.
    """

    def __init__(self):
        self.crews = defaultdict(list)
        _in_forked_processes(self.crews.clear)
        _in_forked_processes(_at_work.clear)


def _in_forked_processes(call):
    """Let every process that is forked from this one make a call first, where processes can be forked."""
    if hasattr(os, "register_at_fork"):
        os.register_at_fork(after_in_child=call)


_idle = _Idle()


@contextmanager
def lent_threads(count):
    """Lend a crew of threads. Whoever borrows it has to wait for what it does before giving it back."""
    try:
        crew = _idle.crews[count].pop()
    except IndexError:
        crew = Crew(count)
    try:
        yield crew
    finally:
        if not crew.ended:
            _idle.crews[count].append(crew)


def in_threads(function, items, n_jobs=None):
    """Yield ``function(item)`` for all items, computed by ``n_jobs`` threads, in the order of the items.

    The thread that calls is one of those that compute, each of which takes the next item whenever it is done with one.
    Nothing is yielded before all items have been begun, and nothing more is begun after an error.

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
    tasks = [Task(function, item) for item in items]

    def compute():
        for task in tasks:
            task.run()
            if task.failed:
                return

    helping = [Task(lambda _: compute(), None) for _ in range(workers - 1)]
    with lent_threads(workers - 1) as crew:
        try:
            for helper in helping:
                crew.let(helper.run)
            compute()
            for task in tasks:
                yield task.result()
        finally:
            for task in tasks + helping:
                task.take_back()


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
    with lent_threads(workers - 1) as crew:
        try:
            for item in items:
                if item is PAUSE:
                    yield from _finished(under_way)
                    continue
                task = Task(function, item)
                del item
                under_way.append(task)
                if sum(not other.done for other in under_way) > workers:
                    task.run()
                else:
                    crew.let(task.run)
                del task
                while under_way and (under_way[0].done or len(under_way) > 2 * workers + 1):
                    yield under_way.popleft().result()
            yield from _finished(under_way)
        finally:
            for task in under_way:
                task.take_back()


def _finished(under_way):
    """Yield the results of all tasks, after helping with those that nobody has begun."""
    for task in reversed(under_way):
        task.run()
    while under_way:
        yield under_way.popleft().result()


def read_ahead(items, count):
    """Yield items that a thread makes ahead of those who use them, up to ``count`` of them.

    An error comes where its item would have come. The thread ends when nobody wants more.
    """
    ahead = _Ahead(items, count)
    try:
        while True:
            item, error = ahead.next()
            if error is not None:
                raise error
            if item is _END:
                return
            yield item
            del item
    finally:
        ahead.end()


class _Ahead:
    """A thread that makes items, and those that wait, each with None or an error."""

    def __init__(self, items, count):
        self.waiting, self._items, self._stopped = queue.Queue(maxsize=count), items, threading.Event()
        self._maker = threading.Thread(target=self._make, name="isrht-read-ahead", daemon=True)
        self._was_left = False
        _at_work.add(self)
        self._maker.start()

    def next(self):
        """Return the next item that waits, and None or an error."""
        if self._stopped.is_set() and self.waiting.empty():
            raise RuntimeError(ENDING)
        return self.waiting.get()

    def end(self, patience=None):
        """Let the thread make no more items, and wait for its end, but for no more seconds than ``patience``.

        A thread that was waited for in vain, because it reads what does not come, is not waited for again.
        """
        self._stopped.set()
        if not self._was_left:
            self._maker.join(patience)
        self._was_left = self._maker.is_alive()
        with suppress(queue.Full):  # whoever still waits, while the interpreter ends, must not do so for ever
            self.waiting.put_nowait((_END, RuntimeError(ENDING)))

    def _make(self):
        try:
            for item in self._items:
                self._offer((item, None))
                if self._stopped.is_set():
                    return
                del item
            self._offer((_END, None))
        except BaseException as error:
            self._offer((_END, error))

    def _offer(self, what):
        while not self._stopped.is_set():
            try:
                return self.waiting.put(what, timeout=0.1)
            except queue.Full:
                continue


_END = object()


class _BlasThreads:
    """Counts those who want BLAS held to one thread: the first to come sets it, the last to leave restores it."""

    def __init__(self):
        self.limits = self.libraries = None
        self.begin()
        _in_forked_processes(self.begin)

    def begin(self):
        """Begin to count anew, as a process does that was forked: it has none of the threads of its parent."""
        self.lock, self.users = threading.Lock(), 0

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
