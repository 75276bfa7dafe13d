"""What is known of partitions of rows: of each one by itself, and of all of them together."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np


class Partition(NamedTuple):
    """What a worker finds in one partition.

    ``nnz`` counts its stored values. ``pairs`` is half the sum, over sparse rows, of the square of a row's number of
    stored values.
    """

    n_rows: int
    n_features: int
    dtype: np.dtype
    sparse: bool
    nnz: int
    pairs: float


@dataclass(frozen=True)
class PartitionFacts:
    """What is known of all partitions together.

    ``sizes`` are the numbers of rows of each; the rest is as a :class:`Partition` has it, for all rows.
    """

    sizes: list[int]
    n_features: int
    dtype: np.dtype
    sparse: bool
    nnz: int
    pairs: float

    @classmethod
    def of(cls, partitions):
        """Return what is known of all these partitions; raise an error that names the block if they do not match."""
        with_rows = [part for part in partitions if part.n_rows]
        if not with_rows:
            raise ValueError("X has no rows")
        n_features, sparse = with_rows[0].n_features, with_rows[0].sparse
        for i, part in enumerate(partitions):
            if part.n_rows and part.n_features != n_features:
                raise ValueError(
                    f"block {i}: it has {part.n_features} features, but the blocks before have {n_features}"
                )
        for i, part in enumerate(partitions):
            if part.n_rows and part.sparse != sparse:
                raise ValueError(f"block {i}: some blocks are sparse, and some are not")
        return cls(
            sizes=[part.n_rows for part in partitions],
            n_features=n_features,
            dtype=np.dtype(np.result_type(*[part.dtype for part in with_rows])),
            sparse=sparse,
            nnz=sum(part.nnz for part in partitions),
            pairs=sum(part.pairs for part in partitions),
        )

    @property
    def shape(self):
        """The numbers of rows and of features."""
        return sum(self.sizes), self.n_features

    def changed(self, sizes=None, n_features=None, sparse=None):
        """Return facts for fewer rows, or rows of another width. How many values they store is estimated."""
        facts = replace(
            self,
            sizes=self.sizes if sizes is None else sizes,
            n_features=self.n_features if n_features is None else n_features,
            sparse=self.sparse if sparse is None else sparse,
        )
        share = facts.shape[0] / self.shape[0]
        return replace(facts, nnz=int(share * self.nnz), pairs=share * self.pairs)
