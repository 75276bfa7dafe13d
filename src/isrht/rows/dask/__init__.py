"""Rows on a Dask cluster: sums are taken by the workers that have the rows, and only sums travel.

:mod:`~isrht.rows.dask.rows` are the partitions, :mod:`~isrht.rows.dask.values` what belongs to each row of them, and
:mod:`~isrht.rows.dask.cluster` talks to the scheduler. Nothing here is imported before somebody gives rows that are in
Dask, so the package does not need it.
"""
