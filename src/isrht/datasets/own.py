"""Sets of the user's own, for ``isrht compare``: files that a record in the journal of their experiment describes.

The journal is what all processes of an experiment share, and what a report is made of later. So every process that
reads it knows the set, as if it had always been in the registry.
"""

from __future__ import annotations

import os

import numpy as np
import scipy.sparse as sp

from isrht.datasets import folders
from isrht.datasets.registry import DATASETS, Description
from isrht.files.density import is_smaller_dense, smaller_form
from isrht.files.folders import PathInFolder, folders_of

KIND = "set"
TRAIN_SHARE = 0.7
# Journals of earlier versions call this way to scale by the word that the classifier has for another one.
EARLIER_SCALES = {"maxabs": "largest"}


def set_record(name, facts, paths, test, options, rs):
    """Return the record of a set: what a :class:`Description` needs, and as ``source`` where its rows come from."""
    if name in DATASETS and DATASETS[name].source is None:
        raise ValueError(f"{name!r} is the name of a set of the package: choose another with --name")
    source = {"files": paths, "test": test, "options": options | {"n_features": facts.n_features}}
    named = {path: list(folders_of(path)) for path in [*paths, *(test or [])] if folders_of(path)}
    sparse = facts.index_base is not None and not is_smaller_dense(facts.nnz, (facts.n_samples, facts.n_features))
    return {
        "kind": KIND,
        "name": name,
        "about": f"{facts.n_samples:,} rows of {', '.join(os.path.basename(path) for path in paths)}",
        "r": max(rs),
        "r_grid": sorted(rs),
        "split": "given" if test else TRAIN_SHARE,
        "scale": "largest" if sparse else "minmax",
        "sparse": sparse,
        "features": facts.n_features,
        "source": source | ({"folders": named} if named else {}),
    }


def register_all(records):
    """Make the sets of a journal known to :func:`~isrht.datasets.describe`; the last record of a name counts."""
    for record in records:
        if record["kind"] == KIND:
            fields = {name: value for name, value in record.items() if name not in ("kind", "key")}
            scale = EARLIER_SCALES.get(record["scale"], record["scale"])
            DATASETS[record["name"]] = Description(**fields | {"r_grid": tuple(record["r_grid"]), "scale": scale})


def read(description):
    """Return ``(X, y, is_test)``: all rows, the numbers of their classes, and which of the rows test."""
    from isrht.files.opening import read_rows

    source = description.source
    given = [placed(source[name], source) for name in ("files", "test") if source[name]]
    parts = [read_rows(paths, **source["options"]) for paths in given]
    if any(y is None for _, y, _ in parts):
        raise ValueError(f"{description.name}: there are no labels; --label names the column of a table")
    rows, labels = [X for X, _, _ in parts], [y for _, y, _ in parts]
    X = sp.vstack(rows, format="csr") if sp.issparse(rows[0]) else np.concatenate(rows)
    codes = np.unique(np.concatenate(labels), return_inverse=True)[1]
    return smaller_form(X), codes, np.repeat(np.arange(len(labels)) > 0, [len(part) for part in labels])


def placed(paths, source):
    """Return the paths of a source, with the names of their folders that tell columns."""
    return [PathInFolder(path, source.get("folders", {}).get(path, ())) for path in paths]


def digest(description):
    """Return one SHA-256 of all files of a set."""
    source = description.source
    return folders.digest([*source["files"], *(source["test"] or [])])
