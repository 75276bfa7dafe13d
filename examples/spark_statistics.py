"""The statistics pass of ISRHT in Spark: every partition measures its rows, and the driver adds up what they found.

``measure_partition`` runs on the executors, where isrht must be installed. Models of the same seed draw the same signs,
so their statistics merge. What travels is one pickle of O(K d) numbers per partition::

    python examples/spark_statistics.py "rows/*.parquet" model.isrht --columns 16

reads Parquet files with columns ``features`` (lists of numbers, all of one length) and ``label``, and writes a model
file for ``isrht.load``. ``spark-submit`` takes the same arguments.
"""

import argparse
import pickle
from functools import reduce

import numpy as np
import pyarrow as pa

from isrht import ISRHT, save


def measure_partition(batches, n_components=16):
    """From Arrow batches with columns ``features`` (lists of numbers) and ``label``: one model, or none for no rows."""
    model, rows = ISRHT(n_components, random_state=0), 0
    for batch in batches:
        if batch.num_rows:
            features = batch.column("features").flatten().to_numpy().reshape(batch.num_rows, -1)
            model.partial_fit(features, np.asarray(batch.column("label")))
            rows += batch.num_rows
    if rows:
        yield pa.RecordBatch.from_pydict({"model": [pickle.dumps(model)]})


def merge(model, other):
    model.statistics_ = model.statistics_.merge(other.statistics_)
    return model


def fit(frame, n_components=16):
    """Return an ISRHT that is fitted on all rows of a Spark data frame."""
    parts = frame.mapInArrow(lambda batches: measure_partition(batches, n_components), "model binary").collect()
    if not parts:
        raise ValueError("there are no rows to fit")
    return reduce(merge, [pickle.loads(part.model) for part in parts])


def main(arguments=None):
    parser = argparse.ArgumentParser(description="Fit ISRHT on Parquet files in Spark, and write a model file.")
    parser.add_argument("rows", nargs="+", help="Parquet files or folders, with columns 'features' and 'label'")
    parser.add_argument("model", help="the model file to write")
    parser.add_argument("-r", "--columns", type=int, default=16, help="how many columns to keep (default: 16)")
    options = parser.parse_args(arguments)
    try:
        from pyspark.sql import SparkSession
    except ModuleNotFoundError:
        parser.error("this needs PySpark, and PySpark a Java: pip install pyspark")
    session = SparkSession.builder.appName("isrht").getOrCreate()
    try:
        model = fit(session.read.parquet(*options.rows).select("features", "label"), options.columns)
    finally:
        session.stop()
    save(model, options.model)
    print(f"columns {', '.join(map(str, model.selected_columns_))} of {model.n_features_in_} features: {options.model}")


if __name__ == "__main__":
    main()
