"""Rows in arrays and tables of other libraries, which are sliced or streamed, and never loaded whole.

Anything that has a ``shape`` of two numbers and gives rows when it is sliced serves: datasets of h5py, arrays of Zarr,
X of an AnnData file that is open in backed mode, tensors. Data frames, lazy frames of polars and datasets of pyarrow
have their labels in a column. What is none of these is named, with a way to convert it.
"""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from isrht.files._checks import label_place
from isrht.files.arrow import column_of_labels, layout_of, rows_of_batch
from isrht.support.matrices import BLOCK_ELEMENTS

HOW_ELSE = (
    "give a function that returns an iterator over blocks (X_block, y_block), as docs/scaling.md shows, or convert it "
    "to a NumPy array or a SciPy CSR matrix"
)


def foreign_blocks(X, label=None):
    """Return blocks of rows of another library's array or table, which can be iterated many times, or None.

    Parameters
    ----------
    X : object
    label : str or None, default=None
        The column of a table that has the labels.

    Returns
    -------
    iterable or None
        None if X is nothing that this module knows.
    """
    home = type(X).__module__.partition(".")[0]
    if hasattr(X, "keys") and hasattr(X, "__getitem__") and not hasattr(X, "shape"):
        names = ", ".join(map(repr, [*X.keys()][:5])) or "none"
        raise TypeError(f"{_name(X)} is no array, but holds some by name ({names}): give one of them, as source[name]")
    if home == "anndata" and hasattr(X, "obs"):
        if label is not None and label not in X.obs:
            raise ValueError(f"there is no column {label!r} in obs of the {_name(X)}")
        return ArraySlices(X.X, None if label is None else np.asarray(X.obs[label]))
    if home == "pyarrow" and type(X).__name__ == "RecordBatch":
        X = _as_table(X)
    if hasattr(X, "to_batches") and hasattr(X, "schema"):
        return ArrowBatches(X, label)
    if home == "polars" and hasattr(X, "collect_schema") and not hasattr(X, "shape"):
        return LazyBatches(X, label)
    if hasattr(X, "columns") and (hasattr(X, "iloc") or home == "polars"):
        return FrameSlices(X, label)
    if not hasattr(X, "shape") or not hasattr(X, "__getitem__") or callable(X.shape):
        return None
    if label is not None:
        raise ValueError(
            f"no label {label!r} is looked for in a {_name(X)}: give labels to fit, as y, without label=; or {HOW_ELSE}"
        )
    return ArraySlices(X)


def _as_table(batch):
    import pyarrow

    return pyarrow.Table.from_batches([batch])


def _name(X):
    return f"{type(X).__module__.partition('.')[0]}.{type(X).__name__}"


class ArraySlices:
    """Rows of an array that is sliced, a whole number of its chunks at a time."""

    is_dear, is_fresh = True, True

    def __init__(self, X, labels=None):
        shape = tuple(X.shape)
        if len(shape) != 2:
            raise ValueError(
                f"{_name(X)} has {len(shape)} dimensions, shape {shape}; rows of features have 2: {HOW_ELSE}"
            )
        if getattr(X, "format", None) == "csc" and not sp.issparse(X):
            raise TypeError(
                f"{_name(X)} is stored by columns, so that every block would read all of it: store it as CSR"
            )
        self.X, self.labels, self.shape = X, labels, shape

    def __iter__(self):
        step = self._step()
        for start in range(0, self.shape[0], step):
            part = self.X[start : min(start + step, self.shape[0])]
            if not sp.issparse(part):
                part = np.asarray(part)
            if part.ndim != 2 or part.dtype.kind not in "biuf":
                raise TypeError(f"slices of {_name(self.X)} are no rows of numbers: {HOW_ELSE}")
            yield part if self.labels is None else (part, self.labels[start : start + part.shape[0]])

    def _step(self):
        rows = max(1, BLOCK_ELEMENTS // max(1, self.shape[1]))
        if hasattr(self.X, "format"):  # sparse: most of a row is zeros
            rows *= 16
        chunk = (getattr(self.X, "chunks", None) or [1])[0]
        chunk = chunk if isinstance(chunk, int) else 1
        return max(1, rows // chunk) * chunk


class FrameSlices:
    """Rows of a data frame of pandas or polars, some at a time."""

    is_dear, is_fresh = False, False

    def __init__(self, frame, label):
        if label is not None and label not in frame.columns:
            raise ValueError(f"there is no column {label!r} in the {_name(frame)}")
        self.frame, self.label = frame, label

    def __iter__(self):
        step = max(1, BLOCK_ELEMENTS // max(1, self.frame.shape[1]))
        for start in range(0, self.frame.shape[0], step):
            part = getattr(self.frame, "iloc", self.frame)[start : start + step]
            yield part if self.label is None else _without_label(part, self.label)


def _without_label(part, label):
    if hasattr(part, "iloc"):
        return part.drop(columns=[label]), part[label].to_numpy()
    return part.drop(label), part[label].to_numpy()


class LazyBatches:
    """Rows of a lazy frame of polars, whose query is run anew in every pass, in batches."""

    is_dear, is_fresh = True, True

    def __init__(self, frame, label):
        self.names = frame.collect_schema().names()
        if label is not None and label not in self.names:
            raise ValueError(f"there is no column {label!r} in the {_name(frame)}")
        self.frame, self.label = frame, label

    def __iter__(self):
        step = max(1, BLOCK_ELEMENTS // max(1, len(self.names)))
        for part in self._batches(step):
            if part.height:
                yield part if self.label is None else _without_label(part, self.label)

    def _batches(self, step):
        if hasattr(self.frame, "collect_batches"):
            return self.frame.collect_batches(chunk_size=step, maintain_order=True)
        return self._slices(step)

    def _slices(self, step):
        start = 0
        while (part := self.frame.slice(start, step).collect()).height:
            yield part
            start += part.height


class ArrowBatches:
    """Rows of a pyarrow Dataset or Table: columns, a column of lists, or sparse rows, as in Parquet files."""

    is_dear, is_fresh = True, True

    def __init__(self, data, label):
        self.data, self.name = data, _name(data)
        self.place = None if label is None else label_place(self.name, label, data.schema.names)
        self.layout = layout_of(self.name, data.schema, self.place)
        self.width = None
        names = [name for place, name in enumerate(data.schema.names) if place != self.place]
        self.feature_names = names if self.layout == "columns" else None

    def __iter__(self):
        if self.layout == "sparse" and self.width is None:
            self.width = max((rows.shape[1] for rows, _ in self._blocks()), default=0)
        return self._blocks()

    def _blocks(self):
        step, row = max(1, BLOCK_ELEMENTS // max(1, len(self.data.schema.names))), 0
        batches = {"batch_size": step} if hasattr(self.data, "scanner") else {"max_chunksize": step}
        for batch in self.data.to_batches(**batches):
            if batch.num_rows:
                X = rows_of_batch(self.name, row, batch, self.layout, self.place, self.width)
                yield X, None if self.place is None else column_of_labels(batch, self.place)
                row += batch.num_rows
