"""What one pass over the rows finds out: how many rows, features and values there are, and which labels."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace

import numpy as np
import scipy.sparse as sp

from isrht.files.labels import TEXT, LabelCounter, label_text


@dataclass(frozen=True)
class Facts:
    """What one pass over the rows of files has found out.

    Attributes
    ----------
    format : str
        The format that was read, such as "libsvm".
    n_samples, n_features : int
        The shape of the rows.
    nnz : int
        How many values are stored; of dense rows, how many are not 0.
    label_type : "number", "text" or None
        None if there are no labels.
    classes : dict or None
        The number of rows by label; None if there are no labels, or too many different ones to be classes.
    n_unseen : int
        How many of the stored values belong to features past a given ``n_features``, and so are left out of the rows.
    index_base, max_index : int or None
        The base of the indices and the largest index as it is written, of LIBSVM text; None for other formats.
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


class FactsCounter:
    """Gathers the facts of the blocks that it is shown."""

    def __init__(self, label_type):
        self.label_type, self.labels = label_type, LabelCounter()
        self.samples = self.width = self.nnz = 0

    def add(self, X, labels):
        self.width = max(
            self.width, X.shape[1]
        )  # until a scan has ended, blocks of sparse rows are as wide as they need be
        self.add_rows(X.shape[0], X.nnz if sp.issparse(X) else np.count_nonzero(X), labels)

    def add_rows(self, samples, nnz, labels):
        self.samples += samples
        self.nnz += int(nnz)
        self.labels.add(labels)

    def facts(self, format, n_features, n_unseen=0, **more):
        label_type = self.labels.label_type and (self.label_type or self.labels.label_type)
        classes = self.labels.classes(label_type)
        return Facts(format, self.samples, n_features, self.nnz, label_type, classes, n_unseen, **more)


def merged(facts):
    """Return the facts of several files as if they were one.

    Indices begin at 0 if they do so in any of the files, and labels are texts if they are texts in any of them.
    """
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
