"""Tasks that no worker will ever take are given up; all others are waited for."""

import threading

import pytest
from dask_data import dask

from isrht.rows.dask import _stranded, cluster
from isrht.rows.dask._stranded import given_up_when_stranded


class StandIn:
    """A client whose workers, and what they are doing, a test says; cancelling ends what waits for it."""

    def __init__(self, workers, busy):
        self.workers, self.busy, self.cancelled = workers, busy, threading.Event()

    def nthreads(self):
        return dict.fromkeys(self.workers, 1)

    def processing(self):
        return {address: ["task"] if self.busy else [] for address in self.workers}


@pytest.fixture
def client_with(monkeypatch):
    def make(workers, busy=False):
        client = StandIn(workers, busy)
        monkeypatch.setattr(_stranded, "INTERVAL", 0.02)
        monkeypatch.setattr(cluster, "current", lambda: client)
        monkeypatch.setattr(_stranded, "_cancel", lambda client, keys: client.cancelled.set())
        return client

    return make


WHAT = dask.delayed(int)("1")


def test_new_workers_that_are_given_nothing_end_the_wait(client_with):
    client = client_with(["c", "d"])

    def wait():
        with given_up_when_stranded([WHAT], ["a", "b"]):
            assert client.cancelled.wait(10)
            raise RuntimeError("cancelled")

    with pytest.raises(ConnectionError, match=r"all workers .* were lost at the same time"):
        wait()


@pytest.mark.parametrize(
    ("workers", "busy", "homes"),
    [
        (["b", "c"], False, ["a", "b"]),  # one of the old workers is there
        (["c"], True, ["a", "b"]),  # others have taken over
        ([], False, ["a", "b"]),  # a cluster that may grow again
        (["c"], False, [None, None]),  # Dask may choose
    ],
    ids=["one is left", "others work", "no worker yet", "no homes"],
)
def test_otherwise_it_goes_on_waiting(workers, busy, homes, client_with):
    client = client_with(workers, busy)
    with given_up_when_stranded(WHAT, homes):
        assert not client.cancelled.wait(0.2)


def test_other_errors_are_left_as_they_are(client_with):
    client_with(["a"])
    with pytest.raises(OSError, match="disk"), given_up_when_stranded(WHAT, ["a", "b"]):
        raise OSError("disk on fire")


def test_a_client_that_is_closed_is_no_reason(monkeypatch, client_with):
    client = client_with(["c"])
    monkeypatch.setattr(client, "nthreads", lambda: 1 / 0)
    with given_up_when_stranded(WHAT, ["a", "b"]):
        assert not client.cancelled.wait(0.2)
