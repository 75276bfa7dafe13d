"""Talking to a Dask cluster: what is sent, what is asked for, and how sums come back.

A function goes to each worker once, as data of the graph. Sums of partitions are added up in a tree, by the workers.
Tasks are named after the block they work on, so that a block that fails can be told.

Whatever scheduler Dask uses serves: that of the current ``Client``, or threads. Dask is imported where it is used, so
that ``from isrht import *`` does not need it.
"""

from __future__ import annotations

import asyncio
import sys
from concurrent.futures import ThreadPoolExecutor
from uuid import uuid4

import numpy as np

from isrht.rows.blocks import add

# Partial sums that one task of the tree adds up.
FAN_IN = 8
# Seconds that a scheduler may take to answer at all.
PATIENCE = 30


def connect(address, timeout=PATIENCE):
    """A client of the scheduler at ``address``, or an error that says that nothing answers there."""
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
    """That the scheduler of the current client answers, before a fit waits for it in vain."""
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
    import dask

    return dask.compute(what)[0]


def sent(function):
    """The function as data of the graph: it goes to each worker once, and not with every task."""
    from dask import delayed

    return delayed(_Function(function), traverse=False)


class _Function:
    """So that Dask takes a function for data."""

    def __init__(self, function):
        self.function = function


def named(what, i):
    return f"isrht-{what}-block-{i}-{uuid4().hex}"


def tree_sum(partial):
    from dask import delayed

    while len(partial) > 1:
        groups = [partial[first : first + FAN_IN] for first in range(0, len(partial), FAN_IN)]
        partial = [delayed(_sum_of)(group, dask_key_name=named("add", i)) for i, group in enumerate(groups)]
    return partial[0]


def _sum_of(parts):
    """Their sum, in order. None of them is written to: a task may run twice."""
    total = None
    for part in parts:
        if part is not None:
            total = _copy(part) if total is None else add(total, part)
    return total


def _copy(part):
    if isinstance(part, tuple):
        return tuple(map(_copy, part))
    return part.copy() if isinstance(part, np.ndarray) else part
