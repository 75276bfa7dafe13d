"""Talking to a cluster: sums in a tree, and schedulers that do not answer."""

import signal
import socket
import subprocess
import sys
import time

import numpy as np
import pytest
from dask_data import dask, distributed, uneven
from numpy.testing import assert_array_equal

from isrht import ISRHT
from isrht.rows.dask import cluster


@pytest.mark.parametrize("count", [1, 2, 8, 9, 100])
def test_a_tree_adds_up_all_partial_sums(count):
    parts = [(np.array([i, 1]), float(i)) for i in range(count)]
    totals, number = cluster.tree_sum([dask.delayed(part) for part in parts]).compute(scheduler="sync")
    assert_array_equal(totals, [sum(range(count)), count])
    assert number == sum(range(count))


def test_partial_sums_are_not_written_to_and_may_be_missing():
    parts = [None, np.ones(2), None, np.ones(2)]
    assert_array_equal(cluster.tree_sum([dask.delayed(part) for part in parts]).compute(scheduler="sync"), [2, 2])
    assert_array_equal(parts[1], [1, 1])
    assert cluster.tree_sum([dask.delayed(None)] * 3).compute(scheduler="sync") is None


def test_sums_are_added_in_order():
    """1e16 + 1 + ... + 1 - 1e16 depends on the order of the terms."""
    values = [np.array([value]) for value in [1e16, *[1.0] * 6, -1e16]]
    expected = np.array([1e16])
    for value in values[1:]:
        expected = expected + value
    assert_array_equal(cluster.tree_sum([dask.delayed(value) for value in values]).compute(scheduler="sync"), expected)


def test_a_function_is_sent_as_data_and_not_called():
    sent = cluster.sent(lambda: 1 / 0)
    (found,) = dask.compute(sent, scheduler="sync")
    with pytest.raises(ZeroDivisionError):
        found.function()


def test_names_of_tasks_have_the_block_and_are_never_the_same():
    names = [cluster.named("sum", 3) for _ in range(2)]
    assert all(name.startswith("isrht-sum-block-3-") for name in names)
    assert names[0] != names[1]


def test_without_a_client_there_is_no_scheduler_to_wait_for():
    with dask.config.set(scheduler="threads"):
        cluster.check_scheduler()


def test_a_scheduler_that_never_answers_is_given_up():
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        silent.listen()
        address = f"tcp://127.0.0.1:{silent.getsockname()[1]}"
        with pytest.raises(TimeoutError, match=f"no Dask scheduler answered at {address} within 1 s"):
            cluster.connect(address, timeout=1)


@pytest.mark.skipif(not hasattr(signal, "SIGSTOP"), reason="needs signals")
def test_a_scheduler_that_falls_silent_is_given_up(data, monkeypatch, tmp_path):
    X, y = data
    file = tmp_path / "scheduler.json"
    command = [sys.executable, "-m", "distributed.cli.dask_scheduler", "--port", "0", "--no-dashboard"]
    scheduler = subprocess.Popen([*command, "--scheduler-file", str(file)], stderr=subprocess.DEVNULL)
    try:
        deadline = time.monotonic() + 30
        while not file.exists() and time.monotonic() < deadline:
            time.sleep(0.05)
        with distributed.Client(scheduler_file=str(file), set_as_default=True) as client:
            monkeypatch.setattr(cluster, "PATIENCE", 1)
            scheduler.send_signal(signal.SIGSTOP)
            with pytest.raises(TimeoutError, match="the Dask scheduler at tcp.* did not answer within 1 s"):
                ISRHT(8).fit(uneven(X), y)
            scheduler.send_signal(signal.SIGCONT)
            client.close()
    finally:
        scheduler.kill()
        scheduler.wait()
