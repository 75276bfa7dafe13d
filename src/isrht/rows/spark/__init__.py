"""Rows in a Spark data frame: sums are taken by the executors that have the rows, and only sums travel.

:func:`~isrht.rows.spark.rows.spark_rows` makes rows for ``fit`` of a data frame, and
:mod:`~isrht.rows.spark.workers` is the protocol of workers, done by Spark. PySpark is not imported here: whoever has a
data frame has imported it.
"""

from isrht.rows.spark.rows import spark_rows

__all__ = ["spark_rows"]
