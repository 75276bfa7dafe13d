"""Improved subsampled randomized Hadamard transforms for linear classification.

The data flow, and the modules in which it happens::

    load -> scale -> rotate  -> measure    -> score  -> select    -> project    -> classify   -> report
                     rotation   statistics    scores    selection    projection    svm, classifier
"""

from isrht.classifier import ISRHTClassifier
from isrht.embedding import SparseEmbedding
from isrht.hadamard import fwht
from isrht.leverage import LeverageScoreSelection
from isrht.methods import make_projection
from isrht.projection import ISRHT
from isrht.svm import LinearSVM, LinearSVMCV

__version__ = "0.1.0"

__all__ = [
    "ISRHT",
    "ISRHTClassifier",
    "LeverageScoreSelection",
    "LinearSVM",
    "LinearSVMCV",
    "SparseEmbedding",
    "fwht",
    "make_projection",
]
