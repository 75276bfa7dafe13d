"""Columns that learn: diagonals made from the labels, round by round, beyond the paper.

:mod:`~isrht.boosting.estimator` is the estimator. It makes a plan of what is tried (:mod:`~isrht.boosting._plan`) and
lets :mod:`~isrht.boosting._search` choose by held-out rows (:mod:`~isrht.boosting._held_out`) how many rounds, which
diagonal and which C; of very many rows it searches a sample (:mod:`~isrht.boosting._sample`). Both grow paths
(:mod:`~isrht.boosting._path`) round by round (:mod:`~isrht.boosting._rounds`). A round adds diagonals
(:mod:`isrht.projections.diagonals`), notes their Walsh contrasts (:mod:`~isrht.boosting._contrasts`), and trains small
SVMs (:mod:`~isrht.boosting._training`, :mod:`~isrht.boosting._small_svm`) on the columns so far.

What boosting is told of the rows is their role (:mod:`~isrht.boosting._roles`). What it learns of them is kept where
they are (:mod:`~isrht.boosting._places`): in memory or in a file (:mod:`~isrht.boosting._rows`), or on the workers of
a cluster (:mod:`~isrht.boosting._rows_on_dask`). How learned columns are
stored and applied is in :mod:`~isrht.boosting._projection`, and what a model file keeps of them is said by
:mod:`~isrht.boosting.estimator_codec`.

The room uses ``linear`` (for the scores of classes), ``projections``, ``transform``, ``rows``, ``kernels`` and
``support``; ``classifier``, ``models`` and ``export`` use it.
"""
