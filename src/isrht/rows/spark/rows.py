"""Rows in Spark: a partition of a data frame is a block of :class:`~isrht.rows.workers.rows.WorkerRows`.

Executors get their rows as batches of Arrow (``mapInArrow``), of which each partition is put together once and then
kept. Labels and weights are columns of the same data frame: they are coded and checked where they are.
"""

from __future__ import annotations

from functools import partial

import numpy as np
import scipy.sparse as sp

from isrht.files.arrow import rows_and_labels
from isrht.files.errors import library
from isrht.rows.spark.workers import SparkWorkers
from isrht.rows.workers import _tasks
from isrht.rows.workers.pieces import Piece
from isrht.rows.workers.rows import WorkerRows


def spark_rows(frame, label="label", *, weight=None, n_features=None):
    """Return the rows of a Spark data frame, with their labels, for ``fit`` of any estimator.

    Parameters
    ----------
    frame : pyspark.sql.DataFrame
        Every column but the label and the weight is a feature; or one column has lists, or structures of indices and
        values, as Spark's own sparse vectors are.
    label : str, default="label"
        The column of the labels.
    weight : str, default=None
        The column of the weights of the rows, which are then ``sample_weight`` of what is returned, to be given to
        ``fit``.
    n_features : int, default=None
        How many features sparse rows have. Unless it is given it is the largest index and one.

    Returns
    -------
    SparkRows

    Examples
    --------
    ::

        rows = spark_rows(session.read.parquet("days/"), label="click", weight="views")
        model = ISRHTClassifier(64, random_state=0).fit(rows, sample_weight=rows.sample_weight)
    """
    for name in (label, weight):
        if name is not None and name not in frame.columns:
            raise ValueError(f"the data frame has no column {name!r}; it has {', '.join(map(repr, frame.columns))}")
    packed = frame.mapInArrow(_packed, "batch binary").rdd
    workers = SparkWorkers(packed.mapPartitionsWithIndex(partial(_unpacked, label, weight, n_features)))
    width = max(workers.gather("width", _width, workers.rows))
    names = [name for name in frame.columns if name not in (label, weight)]
    header = library("pandas", "rows of Spark").DataFrame(columns=names) if len(names) == width else None
    rows = SparkRows.surveyed(workers, [workers.rows], partial(_opened, width), header)
    rows.coded_labels = rows.coded_there(workers.keep("labels", partial(_beside, 2), workers.rows))
    if weight is not None:
        rows.sample_weight = rows.weights_there(workers.keep("weights", partial(_beside, 3), workers.rows))
    return rows


class SparkRows(WorkerRows):
    """Rows of a Spark data frame. ``sample_weight`` are their weights, or None if no column has them."""

    coded_labels = None
    sample_weight = None


# What follows runs on the executors.


def _packed(batches):
    """Yield a row for each Arrow batch, which holds the batch as bytes."""
    arrow = library("pyarrow", "reading rows of Spark")
    for batch in batches:
        if batch.num_rows:
            stream = arrow.BufferOutputStream()
            with arrow.ipc.new_stream(stream, batch.schema) as writer:
                writer.write_batch(batch)
            yield arrow.RecordBatch.from_arrays(
                [arrow.array([stream.getvalue().to_pybytes()], arrow.binary())], ["batch"]
            )


def _unpacked(label, weight, n_features, number, packed):
    """Return one element for a partition: its number, its rows, its labels and its weights."""
    arrow = library("pyarrow", "reading rows of Spark")
    try:
        batches = (batch for row in packed for batch in arrow.ipc.open_stream(row.batch))
        blocks = [_block(batch, label, weight, n_features) for batch in batches]
        X, y, weights = zip(*blocks, strict=True) if blocks else [[]] * 3
        width = max((part.shape[1] for part in X), default=0)
        whole = _tasks.joined([_as_wide(width, part) for part in X] or [np.zeros((0, 1))])
    except (ValueError, TypeError) as error:
        raise ValueError(f"block {number}: {error}") from error
    return [(number, whole, *(np.concatenate(parts or [np.zeros(0)]) for parts in (y, weights)))]


def _block(batch, label, weight, n_features):
    """Return the rows, the labels and the weights of an Arrow batch."""
    for name in (label, weight):
        if name is not None and batch.column(name).null_count:
            raise ValueError(f"column {name!r} has a null")
    if weight is None:
        return *rows_and_labels(batch, label, n_features), np.zeros(0)
    weights = batch.column(weight).to_numpy(zero_copy_only=False)
    return *rows_and_labels(batch.drop_columns([weight]), label, n_features), weights


def _width(blocks):
    return max((X.shape[1] for _, X, *_ in blocks), default=0)


def _as_wide(width, X):
    """Return sparse rows as rows of a larger width; dense rows as they are."""
    if not sp.issparse(X) or X.shape[1] >= width:
        return X
    return sp.csr_array((X.data, X.indices, X.indptr), shape=(X.shape[0], width))


def _opened(width, blocks):
    return Piece.held([number for number, *_ in blocks], [_as_wide(width, X) for _, X, *_ in blocks])


def _beside(place, blocks):
    """Return the labels or weights of a piece, as :meth:`WorkerRows.coded_there` takes them."""
    return [[(block[0], block[place])] for block in blocks]
