"""Projections: from column statistics to scores, from scores to columns, from columns to a small representation.

:mod:`~isrht.projections.isrht` is the paper's transformer: it measures (:mod:`~isrht.projections.statistics`), scores
(:mod:`~isrht.projections.scores`) and selects (:mod:`~isrht.projections.selection`). Beside it stand the count sketch
(:mod:`~isrht.projections.embedding`), leverage scores (:mod:`~isrht.projections.leverage`) and Fourier features
(:mod:`~isrht.projections.fourier`); :mod:`~isrht.projections.by_name` knows all that the paper compares. What a feature
says of the classes (:mod:`~isrht.projections.feature_moments`) becomes a diagonal that is learned
(:mod:`~isrht.projections.diagonals`), which ``boosting`` builds on. What a model file keeps of an estimator is said by
the codec beside it (:mod:`~isrht.projections.isrht_codec`, say).

The room uses ``transform``, ``rows``, ``kernels`` and ``support``; ``boosting``, ``classifier``, ``models``, ``export``
and ``experiments`` use it.
"""
