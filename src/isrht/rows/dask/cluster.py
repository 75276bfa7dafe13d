"""Talking to a Dask cluster: how functions are sent to it, and how sums come back.

A small function goes with every task, a large one to each worker once, as data of the graph. Sums of pieces are added
up in a tree, by the workers. Tasks are named after what they do and the piece that they work on, for the dashboard, and
so that an error can say which blocks failed.

Any scheduler of Dask serves: that of the current ``Client``, or threads of this process. Dask is imported where it is
used, so that ``from isrht import *`` does not need it.
"""

from __future__ import annotations

import asyncio
import os
import re
import sys
from concurrent.futures import ThreadPoolExecutor
from uuid import uuid4

import numpy as np

from isrht.rows.workers.tree import TreeSum

# One task of the tree adds up the sums of so many pieces.
FAN_IN = 8
# How many pieces there are for a cluster that has no workers yet.
WITHOUT_WORKERS = 16
# A function goes with every task of a pass if all of them together carry no more than so many bytes.
SMALL_BYTES = 2**20
# Seconds that a scheduler may take to answer at all.
PATIENCE = 30


def connect(address, timeout=PATIENCE):
    """Return a client of the scheduler at an address, or raise an error that says that nothing answers there.

    Parameters
    ----------
    address : str
        Such as ``"tcp://10.0.0.1:8786"``.
    timeout : float, default=30
        Seconds.

    Returns
    -------
    distributed.Client
    """
    from distributed import Client
    from distributed.comm import connect as open_comm

    async def answer():  # a Client would wait for ever for a greeting that never comes
        comm = await asyncio.wait_for(open_comm(address, timeout=timeout), timeout)
        comm.abort()

    try:
        with ThreadPoolExecutor(1) as another_loop:
            another_loop.submit(asyncio.run, answer()).result()
        return Client(address, timeout=timeout)
    except (OSError, TimeoutError) as error:
        raise TimeoutError(f"no Dask scheduler answered at {address} within {timeout:g} s") from error


def check_scheduler():
    """Raise an error if the scheduler of the current client does not answer, before a fit waits for it in vain."""
    client = current()
    if client is None:
        return
    try:
        client.sync(client.scheduler.identity, callback_timeout=PATIENCE)
    except TimeoutError as error:
        raise TimeoutError(
            f"the Dask scheduler at {client.scheduler.address} did not answer within {PATIENCE:g} s"
        ) from error


def compute(what):
    """Return the result of delayed objects, in any nesting of lists."""
    import dask

    return dask.compute(what)[0]


def delayed_parts(collection):
    """Return the partitions of a Dask array or data frame as delayed objects.

    What Dask makes of the graph to optimize it forgets partitions that are in the memory of workers.
    """
    persisted = False
    if "distributed" in sys.modules:
        from distributed import futures_of

        persisted = bool(futures_of(collection))
    return list(np.ravel(collection.to_delayed(optimize_graph=not persisted)))


def sent(function, times=1):
    """Return a function as what tasks are given: an object whose attribute ``function`` it is.

    A small one goes with every task, of which there are ``times``. A large one is data of the graph, which go to each
    worker once; that takes longer, because one worker has to fetch them from another.
    """
    import cloudpickle
    from dask import delayed

    if current() is None:
        return _Function(function)
    packed = cloudpickle.dumps(function)
    if len(packed) * times <= SMALL_BYTES:
        return _PackedFunction(packed)
    return delayed(_Function(function), name=f"isrht-function-{uuid4().hex}", traverse=False)


class _Function:
    """Wraps a function, so that Dask takes it for data."""

    def __init__(self, function):
        self.function = function


class _PackedFunction:
    """A function as bytes, which no scheduler looks into."""

    def __init__(self, packed):
        self._packed = packed

    @property
    def function(self):
        """The function, made anew whenever it is asked for."""
        import cloudpickle

        return cloudpickle.loads(self._packed)


def named(what, i, of="piece"):
    """Return a name for the task that works on piece ``i``, or on another part of rows, which no other task has.

    The dashboard shows it without its end, as ``isrht-sum-piece``.
    """
    return f"isrht-{what}-{of}-{i}-{uuid4().hex}"


def piece_of(name):
    """Return the number of the piece that a task of this name works on, or None if it is no task of ours."""
    found = re.match(r"isrht-[a-z]+-piece-(\d+)-", str(name))
    return int(found[1]) if found else None


def current():
    """Return the client that computes what is computed now, or None where this process does it itself."""
    if "distributed" not in sys.modules:
        return None
    import dask
    from distributed import default_client

    try:
        client = default_client()
    except ValueError:  # there is none
        return None
    return None if client.asynchronous or dask.base.get_scheduler() != client.get else client


def threads():
    """Return, for each thread of the cluster, the address of its worker; None for the threads of this process.

    A cluster without workers may be one that grows when there is work: it gets enough pieces to grow for.
    """
    client = current()
    if client is None:
        import dask

        count = dask.config.get("num_workers", None) or os.cpu_count() or 1
        return [None] * count
    found = sorted(client.nthreads().items())
    return [address for address, count in found for _ in range(count)] or [None] * WITHOUT_WORKERS


def at(home, make):
    """Return the delayed object that ``make()`` returns, to be computed by one worker, or by others if it is gone."""
    if home is None:
        return make()
    import dask

    with dask.annotate(workers=[home], allow_other_workers=True):
        return make()


def tree_sum(partial):
    """Return the sum of delayed sums of pieces as one delayed object; where they are many, workers add up several."""
    from dask import delayed

    while len(partial) > 1:
        groups = [partial[first : first + FAN_IN] for first in range(0, len(partial), FAN_IN)]
        partial = [delayed(TreeSum.merged)(group, dask_key_name=named("add", i)) for i, group in enumerate(groups)]
    return partial[0]
