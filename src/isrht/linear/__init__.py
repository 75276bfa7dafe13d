"""Linear SVMs: the objective and its solvers, one C or the best of many, and what every linear model can do.

Two estimators train. :mod:`~isrht.linear.svm` is given C, and :mod:`~isrht.linear.search` chooses it from some
(:mod:`~isrht.linear.costs`) by cross-validation. Both are a :mod:`~isrht.linear.classifier`. They weigh rows by
:mod:`~isrht.linear.weights`, let :mod:`~isrht.linear.path` find the best weights for every C, and score them on
held-out rows by :mod:`~isrht.linear.scoring`. :mod:`~isrht.linear.scores` is the product that prediction comes down
to. What a model file keeps of an estimator is said by the codec beside it (:mod:`~isrht.linear.svm_codec`,
:mod:`~isrht.linear.search_codec`).

Behind the path stand what is minimised (:mod:`~isrht.linear._objective`), the problems that share the rows
(:mod:`~isrht.linear._problems`), and the solvers: one Newton loop (:mod:`~isrht.linear._newton`) that finds its
directions by the exact Hessian (:mod:`~isrht.linear._exact`) or by conjugate gradients
(:mod:`~isrht.linear._conjugate`), and for many features in memory coordinate descent in the dual
(:mod:`~isrht.linear._descent`), which conjugate gradients finish where they must (:mod:`~isrht.linear._wide`).

The room uses ``rows``, ``kernels`` and ``support``; ``boosting``, ``classifier``, ``models``, ``export`` and
``experiments`` use it.
"""
