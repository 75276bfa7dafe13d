"""Linear SVMs: the objective and its solvers, one C or the best of many, and what every linear model can do.

:mod:`~isrht.linear.svm` trains for a given C and :mod:`~isrht.linear.search` chooses C by cross-validation; both are
a :mod:`~isrht.linear.classifier`, walk the path of :mod:`~isrht.linear.path`, weigh rows by
:mod:`~isrht.linear.weights` and are judged by :mod:`~isrht.linear.scoring`. :mod:`~isrht.linear.scores` is the product
that prediction comes down to.

The room uses ``rows``, ``kernels`` and ``support``; ``classifier``, ``models`` and ``export`` use it.
"""
