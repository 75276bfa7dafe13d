"""Types of what users give and get, for the hints of everything public.

Rows come in too many kinds for a type to list them: arrays, sparse matrices and data frames of several libraries, Dask
collections, :class:`~isrht.RowSource`. All of them have a shape, or are sequences; this much a type checker can tell
from a mistake. What comes back is an array for rows in memory and lazy for rows on a cluster: ``Array | Any`` lets
editors complete what an array has, and lets users of Dask call what only a Dask array has.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any, BinaryIO, Literal, Protocol, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray


class HasShape(Protocol):
    """What every matrix, data frame and source of rows has."""

    @property
    def shape(self) -> Any:
        """The numbers of rows and of columns."""


Array: TypeAlias = NDArray[Any]
Rows: TypeAlias = HasShape | Sequence[Any]
Labels: TypeAlias = ArrayLike | HasShape | None
Weights: TypeAlias = ArrayLike | HasShape | None
ArrayOrLazy: TypeAlias = Array | Any
Path: TypeAlias = str | bytes | os.PathLike[str] | os.PathLike[bytes]
ModelFile: TypeAlias = Path | BinaryIO
RowFiles: TypeAlias = Path | BinaryIO | Sequence[Path | BinaryIO]

RandomState: TypeAlias = int | np.random.RandomState | None
ClassWeight: TypeAlias = Mapping[Any, float] | Literal["balanced"] | None
Selection: TypeAlias = Literal["uniform", "importance", "top", "supervised"]
# A splitter of scikit-learn has no type of its own, nor has a scorer.
Folds: TypeAlias = Any
Scoring: TypeAlias = Any
