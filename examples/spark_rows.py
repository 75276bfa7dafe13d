"""Train ``ISRHTClassifier`` on rows in Spark: the protocol of workers of isrht, done by Spark.

A partition of a Spark data frame is a block of rows, and a piece of its own. What isrht keeps beside the rows (codes of
labels, folds, projected rows, learned columns) are RDDs with one element for each partition, which are cached, and a
pass is one job that sums a function over the partitions. Rows and labels never come to the driver::

    python examples/spark_rows.py "rows/*.parquet" model.isrht --columns 64

reads Parquet files and writes a model file for ``isrht.load``. The features are a column ``features`` of lists of
numbers of one length, or of structures with lists ``indices`` and ``values`` (then ``--features-count`` says how many
there are), and ``label`` is the label. isrht must be installed where executors run (``PYSPARK_PYTHON``).
``spark-submit`` takes the same arguments.
"""

import argparse
import pickle
from functools import partial

import numpy as np
import pyarrow as pa
import scipy.sparse as sp

from isrht import ISRHTClassifier, save
from isrht.files.arrow import rows_and_labels
from isrht.rows.workers.pieces import Piece
from isrht.rows.workers.protocol import Workers
from isrht.rows.workers.rows import WorkerRows


class SparkWorkers(Workers):
    """The executors of Spark. What is kept is an RDD that has one element for each partition."""

    def __init__(self, context, n_partitions):
        super().__init__([[number] for number in range(n_partitions)])
        self.context = context

    def spread(self, values):
        return self.context.parallelize(list(values), len(values))

    def keep(self, what, function, *kept):
        made = self._called(what, function, kept).persist()
        made.count()  # now, so that an error comes here, and not in the middle of a later pass
        return made

    def gather(self, what, function, *kept):
        return self._called(what, function, kept).collect()

    def _called(self, what, function, kept):
        self.context.setJobDescription(f"isrht: {what}")
        first, *others = [one for one in kept if one is not None]
        together = first.map(lambda value: (value,))
        for other in others:
            together = together.zip(other).map(lambda pair: (*pair[0], pair[1]))
        return together.map(partial(_call, function, [one is not None for one in kept]))


def _call(function, present, values):
    values = iter(values)
    return function(*(next(values) if here else None for here in present))


def spark_rows(frame, label="label", n_features=None):
    """Return the rows of a Spark data frame, with their labels, for ``fit``.

    Parameters
    ----------
    frame : pyspark.sql.DataFrame
        Every column but the label is a feature; or one column has lists, or structures of indices and values.
    label : str, default="label"
        The column of the labels.
    n_features : int, default=None
        How many features sparse rows have.
    """
    packed = frame.mapInArrow(partial(pack, label, n_features), "part binary").rdd
    blocks = packed.mapPartitionsWithIndex(unpack).persist()
    workers = SparkWorkers(frame.sparkSession.sparkContext, blocks.getNumPartitions())
    rows = WorkerRows.surveyed(workers, [blocks], opened)
    rows.coded_labels = rows.coded_there(workers.keep("labels", labels_of, blocks))
    return rows


# What follows runs on the executors.


def pack(label, n_features, batches):
    """Yield a row for each Arrow batch: the pickle of its rows and labels."""
    for batch in batches:
        if batch.num_rows:
            block = rows_and_labels(batch, label, n_features)
            yield pa.RecordBatch.from_pydict({"part": [pickle.dumps(block)]})


def unpack(number, parts):
    """Return one element for a partition: its number, its rows and its labels."""
    blocks = [pickle.loads(part.part) for part in parts]
    if not blocks:
        return [(number, np.zeros((0, 1)), np.zeros(0))]
    X, y = zip(*blocks, strict=True)
    whole = sp.vstack(X, format="csr") if sp.issparse(X[0]) else np.concatenate(X)
    return [(number, whole, np.concatenate(y))]


def opened(kept):
    number, X, _ = kept
    return Piece.held([number], [X])


def labels_of(kept):
    number, _, y = kept
    return [[(number, y)]] if len(y) else [[]]


def main(arguments=None):
    parser = argparse.ArgumentParser(description="Train ISRHTClassifier on Parquet files in Spark; write a model file.")
    parser.add_argument("rows", nargs="+", help="Parquet files or folders, with columns 'features' and 'label'")
    parser.add_argument("model", help="the model file to write")
    parser.add_argument("-r", "--columns", type=int, default=64, help="how many columns to keep (default: 64)")
    parser.add_argument("-C", type=float, help="the C of the SVM; five folds choose it unless it is given")
    parser.add_argument("--selection", default="supervised", help="how columns are chosen (default: supervised)")
    parser.add_argument("--features-count", type=int, help="how many features sparse rows have")
    options = parser.parse_args(arguments)
    try:
        from pyspark.sql import SparkSession
    except ModuleNotFoundError:
        parser.error("this needs PySpark, and PySpark a Java: pip install pyspark")
    session = SparkSession.builder.appName("isrht").getOrCreate()
    try:
        frame = session.read.parquet(*options.rows).select("features", "label")
        rows = spark_rows(frame, n_features=options.features_count)
        given = {} if options.C is None else {"C": options.C}
        model = ISRHTClassifier(options.columns, selection=options.selection, random_state=0, **given).fit(rows)
    finally:
        session.stop()
    save(model, options.model)
    print(f"{rows.shape[0]} rows of {rows.shape[1]} features, C = {model.C_:g}: {options.model}")


if __name__ == "__main__":
    main()
