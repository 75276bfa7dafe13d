"""Where rows are, and what belongs to each of them: everything that is fitted is a sum over blocks of rows.

:mod:`~isrht.rows.blocks` has the one loop over blocks. The rows are arrays, or :mod:`~isrht.rows.sources` that are read
anew in every pass, or lie on a cluster (:mod:`isrht.rows.dask`); :mod:`~isrht.rows.entry` is the door that tells them
apart. What belongs to a row is one of its :mod:`~isrht.rows.values`: its class (:mod:`~isrht.rows.labels`), its fold
(:mod:`~isrht.rows.folds`), its weight (:mod:`~isrht.rows.weights`). :mod:`~isrht.rows.scaling` measures features, and
:mod:`~isrht.rows.by_feature` stores wide sparse rows by feature.

The room uses ``files``, ``kernels`` and ``support``; every room that fits something uses it.
"""
