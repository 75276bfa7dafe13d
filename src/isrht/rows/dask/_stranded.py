"""Tasks that no worker will ever take: those of pieces whose workers are all gone.

Every piece has a worker that works on it, and others take over where that one is lost. But while a cluster has no
worker at all, Dask forgets that others may: when new workers come, it goes on waiting for the addresses of the old
ones. A fit would wait for ever, so a thread looks now and then whether anything is still being done.
"""

from __future__ import annotations

import threading
from contextlib import contextmanager

from isrht.rows.dask import cluster

# Seconds between two looks; what is found stranded in two of them is given up.
INTERVAL = 5.0


@contextmanager
def given_up_when_stranded(what, homes):
    """Give up waiting for delayed objects when all workers at home in their pieces are gone and nothing is done.

    Parameters
    ----------
    what : delayed object or list of them
        What is computed within.
    homes : list of str or None
        The addresses of the workers that the pieces are at.
    """
    client = cluster.current()
    if client is None or None in homes:
        yield
        return
    done, stranded = threading.Event(), threading.Event()
    keys = [one.key for one in (what if isinstance(what, list) else [what])]

    def look_after():
        looks = 0
        while looks < 2:
            if done.wait(INTERVAL):
                return
            looks = looks + 1 if _is_stranded(client, set(homes)) else 0
        stranded.set()
        _cancel(client, keys)

    threading.Thread(target=look_after, name="isrht-stranded", daemon=True).start()
    try:
        yield
    except Exception as error:
        if not stranded.is_set():
            raise
        raise ConnectionError(
            "all workers of the Dask cluster were lost at the same time, and what they had with them: fit again, with "
            "those that came in their place"
        ) from error
    finally:
        done.set()


def _is_stranded(client, homes):
    """Say whether there are workers, none of them one of these, and none has anything to do."""
    try:
        workers = set(client.nthreads())
        return bool(workers) and not workers & homes and not any(client.processing().values())
    except Exception:  # the client was closed, or lost its scheduler, which the one who waits is told
        return False


def _cancel(client, keys):
    from distributed import Future

    client.cancel([Future(key, client) for key in keys], force=True)
