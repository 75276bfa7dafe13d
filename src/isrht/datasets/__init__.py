"""Load a set by its name: its rows, its labels, and which rows train and which test.

:mod:`~isrht.datasets.registry` knows all sets, and :mod:`~isrht.datasets.loading` loads them. *Embedded* sets are
generated or come with scikit-learn (:mod:`~isrht.datasets._embedded`). The six sets of the paper, and *stand-ins* for
those of the six that could not be had, are LIBSVM text, found in a folder (:mod:`~isrht.datasets.folders`) or
downloaded (:mod:`~isrht.datasets.fetch`), and always compared with what is known of them
(:mod:`~isrht.datasets._verify`). Sets of the user's own come from a journal (:mod:`~isrht.datasets.own`).

The room uses ``files``; ``experiments``, ``report`` and ``cli`` use it.
"""

from isrht.datasets.loading import Dataset, load
from isrht.datasets.registry import DATASETS, describe

__all__ = ["DATASETS", "Dataset", "describe", "load"]
