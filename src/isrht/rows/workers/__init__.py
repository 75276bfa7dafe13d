"""Rows on the workers of any cluster: sums are taken where the rows lie, and only sums travel.

A cluster is whatever can do the few calls of :class:`~isrht.rows.workers.protocol.Workers`: in short, "sum this
function over your blocks". :mod:`~isrht.rows.workers.rows` and :mod:`~isrht.rows.workers.values` make of them all that
a fit asks of rows and of what belongs to them. :mod:`isrht.rows.dask` is the protocol for Dask, and
:mod:`isrht.rows.spark` is the protocol for Spark.
"""
