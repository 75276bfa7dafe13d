"""Improved subsampled randomized Hadamard transforms for linear classification.

The data flow, and the modules in which it happens::

    load -> scale -> rotate  -> measure    -> score  -> select    -> project    -> classify   -> report
                     rotation   statistics    scores    selection    projection    svm
"""

from isrht.embedding import SparseEmbedding
from isrht.hadamard import fwht
from isrht.leverage import LeverageScoreSelection
from isrht.methods import make_projection
from isrht.projection import ISRHT

__version__ = "0.1.0"

__all__ = ["ISRHT", "LeverageScoreSelection", "SparseEmbedding", "fwht", "make_projection"]
