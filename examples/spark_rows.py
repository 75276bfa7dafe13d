"""Train ``ISRHTClassifier`` on rows in Spark, where they are: from Parquet files to a model file.

The executors take every sum over rows that training needs, also to choose C and boosted columns, and only sums come to
the driver::

    python examples/spark_rows.py "rows/*.parquet" model.isrht --columns 64

writes a model file for ``isrht.load``. The features are columns of numbers, or one column of lists of one length, or
one of structures with lists ``indices`` and ``values`` (so are the sparse vectors of Spark's own library). The label is
the column ``label``. isrht must be installed where executors run (``PYSPARK_PYTHON``). ``spark-submit`` takes the same
arguments.
"""

import argparse

from isrht import ISRHTClassifier, save
from isrht.rows.spark import spark_rows


def train(frame, label="label", weight=None, **parameters):
    """Return an ``ISRHTClassifier`` of these parameters, trained on a Spark data frame by its executors."""
    rows = spark_rows(frame, label, weight=weight)
    return ISRHTClassifier(**parameters).fit(rows, sample_weight=rows.sample_weight)


def main(arguments=None):
    parser = argparse.ArgumentParser(description="Train ISRHTClassifier on Parquet files in Spark; write a model file.")
    parser.add_argument("rows", nargs="+", help="Parquet files or folders")
    parser.add_argument("model", help="the model file to write")
    parser.add_argument("-r", "--columns", type=int, default=64, help="how many columns to keep (default: 64)")
    parser.add_argument("-C", type=float, help="the C of the SVM; five folds choose it unless it is given")
    parser.add_argument("--selection", default="boosted", help="how columns are chosen (default: boosted)")
    parser.add_argument("--label", default="label", help="the column of the labels (default: label)")
    parser.add_argument("--weight", help="the column of the weights of the rows")
    parser.add_argument("--features", nargs="+", help="the columns of the features (default: all others)")
    options = parser.parse_args(arguments)
    try:
        from pyspark.sql import SparkSession
    except ModuleNotFoundError:
        parser.error("this needs PySpark, and PySpark a Java: pip install pyspark")
    given = {} if options.C is None else {"C": options.C}
    session = SparkSession.builder.appName("isrht").getOrCreate()
    try:
        frame = session.read.parquet(*options.rows)
        if options.features:
            beside = [name for name in (options.label, options.weight) if name]
            frame = frame.select(*options.features, *beside)
        model = train(
            frame,
            options.label,
            options.weight,
            n_components=options.columns,
            selection=options.selection,
            random_state=0,
            **given,
        )
    finally:
        session.stop()
    save(model, options.model)
    print(f"{model.n_features_in_} features, C = {model.C_:g}: {options.model}")


if __name__ == "__main__":
    main()
