"""Tools that know nothing of the method: threads, views of matrices, checks of input, files that vanish or are whole.

:mod:`~isrht.support.codec` says what the codec of an estimator is, because every room with estimators has some.

The room uses no other; every room uses it.
"""
