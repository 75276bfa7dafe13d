"""The compared methods by name: the ten rows of the paper's table, its variants, and ours.

On sparse data the paper puts a count sketch in front of its rotation, whose size is 2r in its text and 8192 in its
code. Both are variants here ("sketch 2r", "sketch 8192"); the plain name means our exact projection. On dense data,
too, the authors' code differs from their text (``paper/errata.md``, 5 and 6), and is a variant. Every method uses the
best solver at hand, so that times compare methods and not implementations.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

# Beyond this many features PCA would need gigabytes of dense components, and the paper could not complete it either.
MAX_PCA_FEATURES = 500_000
BOOSTED = "Boosted ISRHT"
# The sketch must not share its random numbers with the rotation behind it.
SKETCH_SEED = 10_000
# The paper does not give the rank of its leverage scores. If it were the number of columns that are kept, features of
# pure noise would have the largest scores.
DLSS_RANK = 10


@dataclass(frozen=True)
class Method:
    """One way to reduce the number of features.

    Attributes
    ----------
    name : str
        The name by which it is asked for and reported; a variant follows a comma.
    published : str or None
        The row of the paper's table of results to compare with; None if there is none.
    uses_labels : bool
        Whether the projection is fitted to labels. Then every fold of a cross-validation fits its own.
    deterministic : bool
        Whether all seeds give the same result, so that one run is enough.
    tunes_itself : bool
        Whether the projection chooses C itself, on rows that it holds out.
    sketch_size : int, "2r" or None
        The size of the count sketch in front, if there is one.
    options : tuple of pairs
        Parameters of the projection that differ from the defaults.
    about : str
        What it is, in a few words.
    """

    name: str
    published: str | None = None
    uses_labels: bool = False
    deterministic: bool = False
    tunes_itself: bool = False
    sketch_size: Any = None
    options: tuple = ()
    about: str = ""

    @property
    def projects(self):
        return self.name != "All features"

    @property
    def base(self):
        """The name without that of a variant."""
        return self.name.partition(", ")[0]

    def applies_to(self, description):
        """Say whether this method is meant for a set.

        The paper sketches sparse data only, and the variants of its code are compared on dense data.
        """
        if self.sketch_size:
            return description.sparse
        return not (self.options and description.sparse)

    def make(self, r, seed, sparse):
        """Return an unfitted projection to r columns, or None if all features are kept."""
        from isrht import BoostedISRHT, make_projection

        if not self.projects:
            return None
        if self.name == BOOSTED:
            return BoostedISRHT(r, random_state=seed)
        projection = make_projection(self.base, r, random_state=seed).set_params(**dict(self.options))
        if self.sketch_size:
            return sketched(projection, 2 * r if self.sketch_size == "2r" else self.sketch_size)
        if self.name == "Sparse Embedding":
            return projection.set_params(dense_output=True)
        if self.name == "PCA" and sparse:
            return projection.set_params(svd_solver="arpack")
        if self.name == "DLSS":
            return projection.set_params(rank=min(r, DLSS_RANK))
        if self.name == "Achlioptas":
            return projection.set_params(dense_output=True)
        return projection

    def why_not(self, n_features, r):
        """Return why this method cannot project so many features to r columns, or None if it can."""
        if self.name == "PCA" and n_features > MAX_PCA_FEATURES:
            return f"{r} dense components of {n_features:,} features; the paper could not complete it either"
        if self.name in ("PCA", "DLSS") and r > n_features:
            return f"r={r} is more than the {n_features} features"
        return None


def sketched(projection, size):
    """Put a count sketch in front of a projection, with a seed of its own, as ``ISRHT(sketch_size=...)`` does."""
    from sklearn.pipeline import make_pipeline

    from isrht import SparseEmbedding

    return make_pipeline(SparseEmbedding(size, random_state=projection.random_state + SKETCH_SEED), projection)


def _all_methods():
    yield Method("All features", "All features", deterministic=True, about="no projection")
    yield Method("PCA", "PCA", deterministic=True, about="randomized SVD; ARPACK with implicit centring on sparse data")
    yield Method("DLSS", "DLSS", deterministic=True, about="features of the largest leverage scores")
    yield Method("Gaussian", "Gaussian", about="a dense Gaussian matrix")
    yield Method("Achlioptas", "Achlioptas", about="a matrix of -1, 0, 1, two thirds of it zero")
    yield Method("Sparse Embedding", "Sparse Embedding", about="a count sketch")
    rotations = ("SRHT", False), ("ISRHT-nps", False), ("ISRHT-top-r", False), ("ISRHT-supervised", True)
    for name, uses_labels in rotations:
        yield Method(name, name, uses_labels, about="exact, also on sparse data")
    for name, uses_labels in rotations:
        yield Method(f"{name}, sketch 2r", name, uses_labels, sketch_size="2r", about="the paper's text, sparse data")
        yield Method(
            f"{name}, sketch 8192", name, uses_labels, sketch_size=8192, about="the authors' code, sparse data"
        )
    for name, options in ("ISRHT-nps", (("center", True), ("replace", False))), ("ISRHT-top-r", (("center", True),)):
        yield Method(f"{name}, authors' code", name, options=options, about="on centred data; nps without replacement")
    yield Method(
        BOOSTED, None, uses_labels=True, tunes_itself=True, about="aligned signs and residual rounds, beyond the paper"
    )


METHODS = {method.name: method for method in _all_methods()}


def method_named(name):
    """Return the method of this name; an unknown name is an error that lists the known ones."""
    if name not in METHODS:
        raise ValueError(f"unknown method {name!r}: choose one of {', '.join(map(repr, METHODS))}")
    return METHODS[name]
