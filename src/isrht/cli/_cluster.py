"""Rows that the workers of a Dask cluster read: every file is one block, and has the same path on all machines."""

from __future__ import annotations

import logging
import os
import tempfile
from contextlib import contextmanager

import numpy as np

from isrht.cli._reading import check_read_again, named
from isrht.files.density import is_smaller_dense
from isrht.files.errors import other_columns
from isrht.files.facts import merged
from isrht.files.folders import PathInFolder, folders_of
from isrht.files.opening import find, open_rows
from isrht.files.remote import RemoteFile


@contextmanager
def cluster(scheduler=None, n_workers=None):
    """Connect to the scheduler at this address, or start a cluster of ``n_workers`` processes here, for a while."""
    if scheduler is not None:
        from isrht.rows.dask.cluster import connect

        with connect(scheduler) as client:
            yield client
        return
    from distributed import Client, LocalCluster

    with (
        tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder,
        LocalCluster(
            n_workers=n_workers,
            threads_per_worker=1,
            dashboard_address=":0",
            local_directory=folder,
            silence_logs=logging.CRITICAL,
        ) as local,
        Client(local) as client,
    ):
        yield client


def rows_on_workers(data, options):
    """Return ``(X, y, facts)``: rows, and delayed labels, which the workers read; the workers also scan the files."""
    import dask

    from isrht.rows.dask.rows import DaskRows

    found = find(data)
    check_read_again(found, "workers read the rows, several times")
    paths = [(path.url if isinstance(path, RemoteFile) else os.path.abspath(path), folders_of(path)) for path in found]
    scans = dask.compute(*(dask.delayed(scan_file)(*path, options) for path in paths))
    with_rows = [number for number, (facts, _) in enumerate(scans) if facts.n_samples] or [0]
    names = names_of_all([(found[number], scans[number][1]) for number in with_rows])
    facts = merged(scans[number][0] for number in with_rows)
    known = options | {"n_features": facts.n_features, "label_type": facts.label_type}
    known |= {} if facts.index_base is None else {"index_base": facts.index_base}
    dense = is_smaller_dense(facts.nnz, (facts.n_samples, facts.n_features))
    blocks = [dask.delayed(read_file, nout=2, pure=True)(*paths[number], known, dense) for number in with_rows]
    header = None if names is None else named(np.empty((0, facts.n_features)), names)
    return DaskRows([block[0] for block in blocks], header), [block[1] for block in blocks], facts


def names_of_all(told):
    """Return the names of features that all files tell, given with their paths, or None if they have none."""
    first, names = told[0]
    for path, its_names in told:
        if its_names != names:
            raise other_columns(path, its_names or (), first, names or ())
    return names


def scan_file(path, folders, options):
    """Return the facts of a file, and the names of its features, or None."""
    rows = open_rows(PathInFolder(path, folders), **options)
    return rows.scan(), rows.feature_names


def read_file(path, folders, options, dense):
    X, y, _ = open_rows(PathInFolder(path, folders), **options).read()
    return (X.toarray() if dense and hasattr(X, "toarray") else X), y
