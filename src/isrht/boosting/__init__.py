"""Columns that learn: diagonals made from the labels, round by round, beyond the paper.

:mod:`~isrht.boosting.estimator` is the estimator. It lets :mod:`~isrht.boosting._search` choose on held-out rows how
many rounds, which diagonal and which C; both grow :mod:`~isrht.boosting._paths`, whose rounds add one diagonal after
the other (:mod:`isrht.projections.diagonals`) and train small SVMs (:mod:`~isrht.boosting._small_svm`) on the columns
so far. What is known of every row lies where the row is (:mod:`~isrht.boosting._places`). What a model file keeps of
the estimator is said by :mod:`~isrht.boosting.estimator_codec`.

The room uses ``projections``, ``rows``, ``kernels`` and ``support``; ``classifier`` and ``models`` use it.
"""
