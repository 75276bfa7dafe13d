"""What one pass over the rows finds out."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace

from isrht.files.labels import TEXT, label_text


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


def merged(facts):
    """The facts of several files as one: indices begin at 0 if they do in any of them, labels are texts if any is."""
    facts = list(facts)
    first = facts[0]
    label_type = next((TEXT for one in facts if one.label_type == TEXT), first.label_type)
    classes = Counter()
    for one in facts:
        classes.update({_label(label, label_type): count for label, count in (one.classes or {}).items()})
    bases = [one.index_base for one in facts if one.index_base is not None]
    largest = max((one.max_index for one in facts if one.max_index is not None), default=None)
    base = min(bases, default=None)
    width = max(one.n_features for one in facts)
    return replace(
        first,
        n_samples=sum(one.n_samples for one in facts),
        n_features=max(width, largest + 1 - base) if largest is not None and not first.n_unseen else width,
        nnz=sum(one.nnz for one in facts),
        label_type=label_type,
        classes=None if any(one.classes is None for one in facts) else dict(sorted(classes.items())),
        n_unseen=sum(one.n_unseen for one in facts),
        index_base=base,
        max_index=largest,
    )


def _label(label, label_type):
    return label_text(label) if label_type == TEXT else label
