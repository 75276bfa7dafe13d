"""What one pass over the rows finds out."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Facts:
    """``classes`` holds the number of rows by label, or is None without labels or with very many different ones.

    ``nnz`` counts stored values, of dense rows those that are not 0; of them, ``n_unseen`` belong to features past a
    given ``n_features`` and are not among the rows that are given. ``index_base`` and ``max_index`` (the largest index
    as it is written) are those of LIBSVM text, and None for other formats.
    """

    format: str
    n_samples: int
    n_features: int
    nnz: int
    label_type: str | None
    classes: dict | None
    n_unseen: int = 0
    index_base: int | None = None
    max_index: int | None = None
