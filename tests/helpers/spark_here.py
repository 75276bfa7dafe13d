"""What isrht asks of Spark, done here in turn: data frames, RDDs and a context; functions travel, as they do there."""

from types import SimpleNamespace

import numpy as np
import pytest
import scipy.sparse as sp

pa = pytest.importorskip("pyarrow")
cloudpickle = pytest.importorskip("cloudpickle")


class Partitions:
    """What is asked of an RDD: lists, one for each partition, which are made when they are needed."""

    persisted = 0

    def __init__(self, n_partitions, make):
        self.n_partitions, self.make, self.is_persistent, self.made = n_partitions, make, False, None

    def __reduce__(self):
        raise TypeError("an RDD does not travel")

    def lists(self):
        if self.made is not None:
            return self.made
        made = self.make()
        self.made = made if self.is_persistent else None
        return made

    def mapPartitionsWithIndex(self, function):
        function = travelled(function)
        return Partitions(
            self.n_partitions, lambda: [list(function(i, iter(part))) for i, part in enumerate(self.lists())]
        )

    def persist(self):
        self.is_persistent, Partitions.persisted = True, Partitions.persisted + 1
        return self

    def unpersist(self):
        assert self.is_persistent
        self.is_persistent, self.made, Partitions.persisted = False, None, Partitions.persisted - 1

    def collect(self):
        return [one for part in self.lists() for one in part]

    def coalesce(self, count):
        def together():
            lists = self.lists()
            return [[one for part in lists[first::count] for one in part] for first in range(count)]

        return Partitions(count, together)


class Context:
    """What is asked of a SparkContext."""

    defaultParallelism = 4

    def __reduce__(self):
        raise TypeError("a context does not travel")

    def setJobDescription(self, text):
        assert text.startswith("isrht: ")


Partitions.context = Context()


class Frame:
    """What is asked of a data frame, of which every partition is a table of Arrow."""

    def __init__(self, tables):
        self.tables, self.columns = tables, tables[0].schema.names

    def mapInArrow(self, function, schema):
        assert schema == "batch binary"
        function = travelled(function)

        def rows_of(table):
            return [
                SimpleNamespace(**row) for batch in function(iter(table.to_batches(50))) for row in batch.to_pylist()
            ]

        return SimpleNamespace(rdd=Partitions(len(self.tables), lambda: [rows_of(table) for table in self.tables]))


def travelled(function):
    return cloudpickle.loads(cloudpickle.dumps(function))


def tables(X, y, kind, cuts=(120, 120, 250), **columns):
    """Return partitions of uneven size, one of them empty, as tables of Arrow; more columns are given by name."""
    features = {"columns": by_column, "lists": by_list, "sparse": by_index}[kind](X)
    whole = pa.table({**features, "label": y, **columns})
    return [whole.slice(first, last - first) for first, last in zip((0, *cuts), (*cuts, len(y)), strict=True)]


def by_column(X):
    return {f"f{number}": column for number, column in enumerate(X.T)}


def by_list(X):
    return {"features": pa.array([row.tolist() for row in X], pa.list_(pa.float64()))}


def by_index(X):
    X = sp.csr_array(X)
    rows = [slice(*X.indptr[i : i + 2]) for i in range(X.shape[0])]
    structures = [{"indices": X.indices[row].tolist(), "values": X.data[row].tolist()} for row in rows]
    return {
        "features": pa.array(structures, pa.struct({"indices": pa.list_(pa.int32()), "values": pa.list_(pa.float64())}))
    }


def data(rng, n_rows=300):
    """Return rows, a third of whose values are zero, and labels."""
    X = rng.standard_normal((n_rows, 40)) + 0.2
    y = np.array(["no", "yes"])[(X[:, :4].sum(axis=1) + rng.standard_normal(n_rows) > 0).astype(int)]
    return np.where(np.abs(X) > 0.5, X, 0), y
