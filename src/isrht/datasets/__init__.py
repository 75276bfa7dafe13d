"""Load: a name becomes rows, labels and a split.

Three kinds of sets, one registry (:mod:`isrht.datasets.registry`): *embedded* ones that are generated or come with
scikit-learn (:mod:`isrht.datasets._embedded`), the paper's six as LIBSVM text (:mod:`isrht.files`), found in a folder
or downloaded (:mod:`isrht.datasets.folders`, :mod:`isrht.datasets.fetch`) and always checked against the facts known of
them (:mod:`isrht.datasets._verify`), and *stand-ins* for those of the six that could not be had.
"""

from isrht.datasets.loading import Dataset, load
from isrht.datasets.registry import DATASETS, describe

__all__ = ["DATASETS", "Dataset", "describe", "load"]
