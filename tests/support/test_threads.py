"""Numbers of threads, work that threads share, and BLAS, which several fits at once must not set against each other."""

import itertools
import os
import signal
import subprocess
import sys
import threading
import time
import weakref

import joblib
import pytest
from threadpoolctl import threadpool_info, threadpool_limits

from isrht.support import threads
from isrht.support.threads import (
    PAUSE,
    Task,
    in_threads,
    job_count,
    lent_threads,
    one_blas_thread,
    read_ahead,
    stream_in_threads,
    worker_count,
)


def test_worker_count_reads_as_scipy_does():
    cores = joblib.cpu_count()
    assert [worker_count(workers) for workers in (None, 3, -1, -cores)] == [1, 3, cores, 1]
    for wrong in (0, -cores - 1):
        with pytest.raises(ValueError, match=f"workers must be positive, or from -1 to -{cores} .*, got {wrong}"):
            worker_count(wrong)


def test_job_count_reads_as_scikit_learn_does():
    assert [job_count(n_jobs) for n_jobs in (None, 3, -1, -10_000)] == [1, 3, joblib.cpu_count(), 1]
    with pytest.raises(ValueError, match="n_jobs=0"):
        job_count(0)
    with pytest.raises(TypeError, match="n_jobs must be an integer or None, got 'x'"):
        job_count("x")


def test_only_counting_by_cores_imports_joblib():
    code = """
import sys
from isrht.support.threads import job_count, worker_count
assert (job_count(2), job_count(None), worker_count(2), worker_count(None)) == (2, 1, 2, 1)
assert "joblib" not in sys.modules
"""
    subprocess.run([sys.executable, "-c", code], check=True)


@pytest.mark.parametrize("n_jobs", [None, 1, 3, -1])
def test_results_of_threads_come_in_the_order_of_the_items(n_jobs):
    def late(item):
        time.sleep(0.01 * (5 - item))
        return item, threading.current_thread()

    results = list(in_threads(late, range(5), n_jobs))
    assert [item for item, _ in results] == list(range(5))
    assert (len({thread for _, thread in results}) > 1) == (job_count(n_jobs) > 1)


def test_an_error_in_a_thread_is_raised():
    with pytest.raises(ZeroDivisionError):
        list(in_threads(lambda item: 1 / item, [1, 0, 2], 2))


def test_the_thread_that_calls_takes_items_too():
    threads = set(in_threads(lambda _: time.sleep(0.005) or threading.current_thread(), range(20), 2))
    assert threading.current_thread() in threads
    assert len(threads) == 2


def test_after_an_error_nothing_more_is_begun():
    begun = []

    def compute(item):
        begun.append(item)
        if item == 2:
            raise OSError("on fire")
        time.sleep(0.001)

    results = in_threads(compute, range(1000), 2)
    assert [next(results), next(results)] == [None, None]
    with pytest.raises(OSError, match="on fire"):
        next(results)
    assert len(begun) < 10


def test_ctrl_c_is_raised_at_once():
    caller, begun = threading.current_thread(), []

    def compute(item):
        begun.append(item)
        if threading.current_thread() is caller:
            raise KeyboardInterrupt
        time.sleep(0.001)

    with pytest.raises(KeyboardInterrupt):
        list(in_threads(compute, range(1000), 2))
    assert len(begun) < 100


def test_ctrl_c_when_an_item_has_just_been_taken():
    class Items(list):
        def pop(self):
            super().pop()
            raise KeyboardInterrupt

    task = Task(abs, -1)
    task._items = Items([-1])
    with pytest.raises(KeyboardInterrupt):
        task.run()
    task.take_back()  # and nobody waits for ever


@pytest.mark.parametrize("share", [in_threads, stream_in_threads])
def test_who_leaves_early_leaves_nothing_behind(share):
    under_way = set()

    def compute(item):
        under_way.add(item)
        time.sleep(0.01)
        under_way.discard(item)

    results = share(compute, range(20), 2)
    next(results)
    results.close()
    assert not under_way


@pytest.mark.parametrize(
    "how", ["stream_in_threads(late, iter(range(9)), 2)", "in_threads(late, range(9), 2)", "read_ahead(made(), 2)"]
)
def test_a_process_ends_though_generators_are_left_open(how):
    code = f"""
import time
from isrht.support.threads import in_threads, read_ahead, stream_in_threads

def late(item):
    time.sleep(0.2)
    return item

def made():
    for number in range(100):
        yield late(number)

left_open = {how}
assert next(left_open) == 0
"""
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)


@pytest.mark.parametrize("how", ["stream_in_threads(late, iter(range(30)), 2)", "read_ahead(map(late, range(30)), 2)"])
def test_what_goes_on_after_the_end_of_threads_waits_for_none(how):
    code = f"""
import atexit
atexit.register(lambda: print(*left_open))  # before that of the threads, so after it
import time
from isrht.support.threads import read_ahead, stream_in_threads

def late(item):
    time.sleep(0.01)
    return item

left_open = {how}
assert next(left_open) == 0
time.sleep(0.1)
"""
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=False)
    assert (
        ended.stdout.split() == [str(number) for number in range(1, 30)] or "the interpreter is ending" in ended.stderr
    )


def test_a_process_ends_though_a_thread_reads_what_does_not_come():
    code = """
import os
from isrht.support.threads import read_ahead

def made():
    yield 0
    yield os.read(os.pipe()[0], 1)

left_open = read_ahead(made(), 2)
assert next(left_open) == 0
"""
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)


def test_threads_are_lent_again():
    def threads():
        return set(in_threads(lambda _: time.sleep(0.005) or threading.current_thread(), range(8), 3))

    assert len(threads() | threads()) == 3
    with lent_threads(2) as first, lent_threads(2) as second:
        assert first is not second


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")  # of processes that have threads, as this one has
def test_a_process_that_was_forked_has_threads_of_its_own():
    list(in_threads(abs, [1, 2, 3], 2))
    child = os.fork()
    if child == 0:
        signal.alarm(30)  # ends it if it waits for ever
        os._exit(0 if list(in_threads(abs, [-1, -2, -3], 2)) == [1, 2, 3] else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")  # of processes that have threads, as this one has
def test_a_process_that_was_forked_in_the_midst_of_a_fit_can_hold_blas():
    with one_blas_thread(), threads._blas.lock:
        child = os.fork()
        if child == 0:
            signal.alarm(30)  # ends it if it waits for ever
            with one_blas_thread():
                os._exit(0 if threads._blas.users == 1 else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


@pytest.mark.parametrize("workers", [1, 2, 3])
def test_a_stream_is_computed_in_order_with_few_items_under_way(workers):
    made, finished, most_made, most_kept = itertools.count(), [], 0, 0

    def items():
        nonlocal most_made
        for _ in range(30):
            yield next(made)
            most_made = max(most_made, count_of(made) - len(finished))

    def late(item):
        time.sleep(0.002 * (item % 3))
        finished.append(item)
        return item

    for wanted, got in enumerate(stream_in_threads(late, items(), workers)):
        assert got == wanted
        most_kept = max(most_kept, count_of(made) - got)
    assert most_made <= workers + 1
    assert most_kept <= (1 if workers == 1 else 2 * workers + 2)


def count_of(counter):
    """How often an ``itertools.count`` was asked."""
    return int(repr(counter)[6:-1])


def test_the_thread_that_calls_computes_too():
    threads = set(stream_in_threads(lambda _: time.sleep(0.005) or threading.current_thread(), range(20), 2))
    assert threading.current_thread() in threads
    assert len(threads) == 2


@pytest.mark.parametrize("workers", [1, 2, 3])
def test_a_stream_pauses_until_all_results_were_taken(workers):
    taken = []

    def items():
        for number in range(0, 30, 5):
            yield from range(number, number + 5)
            yield PAUSE
            assert taken == list(range(number + 5))

    def late(item):
        time.sleep(0.001 * (item % 3))
        return item

    for result in stream_in_threads(late, items(), workers):
        taken.append(result)
    assert taken == list(range(30))


def test_one_thread_lets_go_of_an_item_before_the_next_is_made():
    class Item:
        """Something that can be referred to weakly."""

    def items():
        for _ in range(3):
            made = Item()
            alive = weakref.ref(made)
            yield made
            del made
            assert alive() is None

    assert list(stream_in_threads(lambda item: None, items(), 1)) == [None] * 3


def test_the_thread_that_calls_takes_over_what_waits_in_a_pause():
    begun, go_on = threading.Event(), threading.Event()

    def compute(item):
        if item == 0:
            begun.set()
            assert go_on.wait(timeout=60)
        else:
            assert begun.wait(timeout=60)
            go_on.set()
        return threading.current_thread()

    first, second = stream_in_threads(compute, iter([0, 1, PAUSE]), 2)
    assert second is threading.current_thread() is not first


def test_the_thread_that_calls_helps_at_the_end():
    begun, go_on = threading.Event(), threading.Event()

    def compute(item):
        if item == 0:
            begun.set()
            assert go_on.wait(timeout=60)
        else:
            assert begun.wait(timeout=60)
            go_on.set()
        return threading.current_thread()

    first, second = stream_in_threads(compute, iter([0, 1]), 2)
    assert second is threading.current_thread() is not first


def test_an_error_in_a_pause_is_raised():
    with pytest.raises(ZeroDivisionError):
        list(stream_in_threads(lambda item: 1 / item, iter([1, 0, PAUSE, 2]), 2))


def test_an_error_of_a_stream_comes_in_its_turn():
    results = stream_in_threads(lambda item: 1 / item, iter([1, 2, 0, 4]), 2)
    assert [next(results), next(results)] == [1, 0.5]
    with pytest.raises(ZeroDivisionError):
        next(results)


def test_an_error_in_the_thread_that_calls_comes_in_its_turn_too():
    caller, go_on = threading.current_thread(), threading.Event()

    def compute(item):
        if threading.current_thread() is caller and not go_on.is_set():
            go_on.set()
            raise OSError(f"item {item} is on fire")
        assert go_on.wait(timeout=60)
        return item

    results = stream_in_threads(compute, range(3), 2)
    assert [next(results), next(results)] == [0, 1]
    with pytest.raises(OSError, match="item 2 is on fire"):
        next(results)


def test_blas_threads_come_back_when_the_last_user_leaves():
    def threads():
        return {pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"}

    with threadpool_limits(limits=2, user_api="blas"):
        before = threads()
        first, second = one_blas_thread(), one_blas_thread()
        first.__enter__()
        second.__enter__()
        first.__exit__(None, None, None)
        assert threads() == {1}
        second.__exit__(None, None, None)
        assert threads() == before


def test_reading_ahead_keeps_the_order_and_the_bound():
    made = []

    def items():
        for number in range(20):
            made.append(number)
            yield number

    for number in read_ahead(items(), 2):
        assert len(made) <= number + 1 + 2 + 1 + 1  # those that wait, the one in hand, and the one being made
    assert made == list(range(20))


def test_errors_come_where_their_item_would_have_come():
    def items():
        yield 1
        raise OSError("on fire")

    ahead = read_ahead(items(), 2)
    assert next(ahead) == 1
    with pytest.raises(OSError, match="on fire"):
        next(ahead)


def test_the_thread_that_reads_ahead_ends_with_its_reader():
    ahead = read_ahead(itertools.count(), 2)
    next(ahead)
    ahead.close()
    assert not [thread for thread in threading.enumerate() if thread.name == "isrht-read-ahead"]
