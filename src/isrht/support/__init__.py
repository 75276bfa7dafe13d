"""Tools that know nothing of the method: threads, views of matrices, checks of input, files that vanish or are whole.

:mod:`~isrht.support.validation` is the door for data and parameters, and :mod:`~isrht.support.sparse_structure` looks
at sparse matrices before compiled code does. :mod:`~isrht.support.matrices` views matrices as kernels want them, and
:mod:`~isrht.support.threads` shares work. :mod:`~isrht.support.atomic_writes` writes files whole or not at all,
:mod:`~isrht.support.spill_file` keeps what memory cannot hold, :mod:`~isrht.support.file_errors` names the file that
an error is about, and :mod:`~isrht.support.visible` shows the texts of strangers.

:mod:`~isrht.support.codec` says what the codec of an estimator is, because every room with estimators has some.

The room uses no other; every room uses it.
"""
