"""Talking to a Dask cluster: how functions are sent to it, and how sums come back.

A function goes to each worker once, as data of the graph. Sums of partitions are added up in a tree, by the workers.
Tasks are named after the block they work on, so that an error can say which block failed.

Any scheduler of Dask serves: that of the current ``Client``, or threads of this process. Dask is imported where it is
used, so that ``from isrht import *`` does not need it.
"""

from __future__ import annotations

import asyncio
import sys
from concurrent.futures import ThreadPoolExecutor
from uuid import uuid4

import numpy as np

from isrht.rows.blocks import add

# One task of the tree adds up so many partial sums.
FAN_IN = 8
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
    if "distributed" not in sys.modules:
        return
    import dask
    from distributed import default_client

    try:
        client = default_client()
    except ValueError:  # there is none: Dask computes in this process
        return
    if client.asynchronous or dask.base.get_scheduler() != client.get:
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


def sent(function):
    """Return a function as data of the graph, which go to each worker once, and not with every task.

    Tasks are given an object whose attribute ``function`` it is.
    """
    from dask import delayed

    return delayed(_Function(function), traverse=False)


class _Function:
    """Wraps a function, so that Dask takes it for data."""

    def __init__(self, function):
        self.function = function


def named(what, i):
    """Return a name for the task that works on block ``i``, which no other task has."""
    return f"isrht-{what}-block-{i}-{uuid4().hex}"


def tree_sum(partial):
    """Return the sum of delayed partial sums as one delayed object; the workers add them up in a tree, in order."""
    from dask import delayed

    while len(partial) > 1:
        groups = [partial[first : first + FAN_IN] for first in range(0, len(partial), FAN_IN)]
        partial = [delayed(_sum_of)(group, dask_key_name=named("add", i)) for i, group in enumerate(groups)]
    return partial[0]


def _sum_of(parts):
    """Return the sum of parts, in order, of which some may be None. It writes to none: a task may run twice."""
    total = None
    for part in parts:
        if part is not None:
            total = _copy(part) if total is None else add(total, part)
    return total


def _copy(part):
    if isinstance(part, tuple):
        return tuple(map(_copy, part))
    return part.copy() if isinstance(part, np.ndarray) else part
