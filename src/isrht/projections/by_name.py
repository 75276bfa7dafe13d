"""The nine projections that the paper compares, by their names in it.

===================  ===========================================================================
name in the paper    estimator
===================  ===========================================================================
Gaussian             ``sklearn.random_projection.GaussianRandomProjection(r)``
Achlioptas           ``sklearn.random_projection.SparseRandomProjection(r, density=1/3)``
Sparse Embedding     ``SparseEmbedding(r)``
SRHT                 ``ISRHT(r, selection="uniform")``
ISRHT-nps            ``ISRHT(r, selection="importance")``
ISRHT-top-r          ``ISRHT(r, selection="top")``
ISRHT-supervised     ``ISRHT(r, selection="supervised")``
PCA                  ``sklearn.decomposition.PCA(r)``
DLSS                 ``LeverageScoreSelection(r)``
===================  ===========================================================================
"""

from __future__ import annotations

from functools import partial
from typing import Any

from sklearn.decomposition import PCA
from sklearn.random_projection import GaussianRandomProjection, SparseRandomProjection

from isrht.projections.embedding import SparseEmbedding
from isrht.projections.isrht import ISRHT
from isrht.projections.leverage import LeverageScoreSelection
from isrht.support.hints import RandomState

PROJECTIONS = {
    "Gaussian": GaussianRandomProjection,
    "Achlioptas": partial(SparseRandomProjection, density=1 / 3),
    "Sparse Embedding": SparseEmbedding,
    "SRHT": partial(ISRHT, selection="uniform"),
    "ISRHT-nps": partial(ISRHT, selection="importance"),
    "ISRHT-top-r": partial(ISRHT, selection="top"),
    "ISRHT-supervised": partial(ISRHT, selection="supervised"),
    "PCA": PCA,
    "DLSS": LeverageScoreSelection,
}


def make_projection(name: str, n_components: int, random_state: RandomState = None) -> Any:
    """Make a projection to ``n_components`` columns, not fitted yet, by its name in the paper.

    Parameters
    ----------
    name : str
        One of "Gaussian", "Achlioptas", "Sparse Embedding", "SRHT", "ISRHT-nps", "ISRHT-top-r", "ISRHT-supervised",
        "PCA" and "DLSS".
    n_components : int
        The number of columns, the paper's r.
    random_state : int, RandomState instance or None, default=None
        The seed of whatever the projection draws.

    Returns
    -------
    transformer
        An estimator of this package or of scikit-learn.

    Examples
    --------
    >>> from isrht import make_projection
    >>> make_projection("ISRHT-top-r", 16, random_state=0)
    ISRHT(n_components=16, random_state=0, selection='top')
    """
    if name not in PROJECTIONS:
        raise ValueError(f"unknown projection {name!r}: choose one of {', '.join(map(repr, PROJECTIONS))}")
    return PROJECTIONS[name](n_components=n_components, random_state=random_state)
