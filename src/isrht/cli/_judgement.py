"""A judgement of predictions, counted block by block: accuracy, a report per class and the confusion matrix."""

from __future__ import annotations

import numpy as np

from isrht.files.labels import as_written, label_text, number_or_nan
from isrht.support.visible import visible

# Nobody can read a confusion matrix of more classes, so it is not shown.
SHOWN_CLASSES = 20


class Judgement:
    """A count of how often each class was predicted for rows of each class.

    Labels that the model does not know count as one more true class.
    """

    def __init__(self, classes):
        self.classes = as_written(np.asarray(classes)).tolist()
        self.names = list(map(visible, self.classes))  # the classes as they are shown
        self.place = {label: k for k, label in enumerate(self.classes)}
        self.counts = np.zeros((len(self.classes) + 1, len(self.classes)), dtype=np.int64)
        self.n_rows = 0

    def add(self, y, predicted):
        """Count the numbers of predicted classes against labels as they are written.

        Without labels (``y`` is None) rows are only counted.
        """
        self.n_rows += len(predicted)
        if y is None:
            return
        different, which = np.unique(y, return_inverse=True)
        places = [self.place.get(canonical(label), len(self.classes)) for label in different.tolist()]
        np.add.at(self.counts, (np.array(places)[which], predicted), 1)

    @property
    def n_judged(self):
        return int(self.counts.sum())

    @property
    def n_right(self):
        return int(np.trace(self.counts[:-1]))

    @property
    def accuracy(self):
        return self.n_right / self.n_judged if self.n_judged else None

    def per_class(self):
        """Yield (class, precision, recall, F1, rows) for every class; a number without meaning is None."""
        for k, name in enumerate(self.names):
            right, predicted, true = self.counts[k, k], self.counts[:, k].sum(), self.counts[k].sum()
            scores = [_share(right, predicted), _share(right, true), _share(2 * right, predicted + true)]
            yield name, *scores, int(true)

    def as_json(self):
        rows = [dict(zip(("precision", "recall", "f1", "rows"), row[1:], strict=True)) for row in self.per_class()]
        return {
            "rows": self.n_rows,
            "labelled": self.n_judged,
            "accuracy": self.accuracy,
            "unknown_labels": int(self.counts[-1].sum()),
            "classes": dict(zip(self.classes, rows, strict=True)),
            "confusion": self.counts[:-1].tolist(),
        }

    def lines(self):
        """Yield the judgement in lines for a terminal."""
        if not self.n_judged:
            return
        yield f"Accuracy = {100 * self.accuracy:.4f}% ({self.n_right}/{self.n_judged})"
        if unknown := int(self.counts[-1].sum()):
            yield f"{unknown:,} rows have labels that the model was not trained on: all counted as wrong"
        if len(self.classes) > SHOWN_CLASSES:
            return
        yield from _table(["class", "precision", "recall", "F1", "rows"], map(_report_row, self.per_class()))
        names = [*self.names, "(unknown)"]
        rows = [[name, *map(str, row)] for name, row in zip(names, self.counts.tolist(), strict=True)]
        yield from _table(["true \\ predicted", *self.names], rows if self.counts[-1].any() else rows[:-1])


def _share(part, whole):
    return float(part / whole) if whole else None


def _report_row(row):
    label, *scores, count = row
    return [label, *("-" if score is None else f"{score:.4f}" for score in scores), str(count)]


def canonical(label):
    """Return a label of a file as the model writes it: numbers without a plus, point or zeros that they do not need."""
    number = number_or_nan(label)
    return label if np.isnan(number) else label_text(number)


def _table(header, rows):
    rows = [header, *rows]
    widths = [max(len(row[c]) for row in rows) for c in range(len(header))]
    yield ""
    for row in rows:
        cells = [cell.rjust(width) for cell, width in zip(row, widths, strict=True)]
        yield "  ".join([row[0].ljust(widths[0]), *cells[1:]])
