"""Rows on a Dask cluster: sums are taken by the workers that have the rows, and only sums travel.

:mod:`~isrht.rows.dask.rows` has the partitions of rows, and :mod:`~isrht.rows.dask.values` the values that belong to
each row of them. :mod:`~isrht.rows.dask.cluster` talks to the scheduler, and :mod:`~isrht.rows.dask._tasks` is what the
workers do. Nothing here is imported before somebody gives rows that are in Dask, so the package does not need Dask.
"""
