"""The answer of ``isrht compare``: which method to use on the user's data, at which r, at what cost, and how sure that
is.

The most accurate combination of method and r is the answer. Which others it cannot be told apart from is judged by a
z-test of two proportions on the test rows: the accuracies differ by less than 1.96 standard errors. Both were measured
on the same rows, which makes the test cautious. Of those, the cheapest is named, because it may be what the user wants.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from isrht.experiments.methods import BOOSTED, METHODS
from isrht.report._text import bytes_text, seconds_text

ERRORS = 1.96  # standard errors: chance exceeds them in one of twenty cases

SELECTIONS = {
    BOOSTED: "boosted",
    "ISRHT-supervised": "supervised",
    "ISRHT-top-r": "top",
    "ISRHT-nps": "importance",
    "SRHT": "uniform",
}


@dataclass(frozen=True)
class Candidate:
    """A method at one r, and what was measured of it: accuracy in percent, CPU seconds, bytes, test rows, runs."""

    method: str
    r: int | None
    accuracy: float
    std: float | None
    seconds: float
    bytes: float
    n_test: int
    n_runs: int
    group: str

    @property
    def name(self):
        return self.method if self.r is None else f"{self.method} with r = {self.r}"

    @property
    def standard_error(self):
        """The standard error of the accuracy in points: of the test rows, and of the runs where there are several."""
        share = min(max(self.accuracy / 100, 0.5 / self.n_test), 1 - 0.5 / self.n_test)
        of_rows = 100 * np.sqrt(share * (1 - share) / self.n_test)
        of_runs = 0.0 if self.std is None else self.std / np.sqrt(self.n_runs)
        return float(np.hypot(of_rows, of_runs))


@dataclass(frozen=True)
class Answer:
    """The best candidate, those that cannot be told apart from it, and the others; all of them, the best first."""

    best: Candidate
    equals: list
    candidates: list

    @property
    def margin(self):
        """How far an accuracy like the best may be off, in points."""
        return ERRORS * self.best.standard_error

    @property
    def cheapest(self):
        """The quickest of those within the margin of the best, or None if that is the best itself.

        Few runs that differ a lot cannot be told apart from the best either, but are nothing to recommend.
        """
        near = [other for other in self.equals if self.best.accuracy - other.accuracy <= self.margin]
        quickest = min([self.best, *near], key=lambda candidate: candidate.seconds)
        return None if quickest is self.best else quickest

    def sentences(self):
        """Yield the answer in words: what to use, what it costs, how sure that is, what is cheaper, how to get it."""
        yield f"Use {self.best.name}: it was right on {self.best.accuracy:.1f} % of {self.best.n_test:,} test rows."
        yield f"It took {seconds_text(self.best.seconds)} CPU seconds and its model has {bytes_text(self.best.bytes)}."
        yield self._how_sure()
        if self.cheapest:
            yield (
                f"The quickest within that margin is {self.cheapest.name}: {self.cheapest.accuracy:.1f} %, "
                f"{seconds_text(self.cheapest.seconds)} CPU seconds, {bytes_text(self.cheapest.bytes)}."
            )
        yield f"In Python: {python_of(self.best)}"

    def _how_sure(self):
        others = len(self.candidates) - 1
        if not others:
            return f"Nothing else was compared. Its accuracy is sure to ± {self.margin:.1f} points."
        if not self.equals:
            return f"That is more than chance: all {others} others are worse by more than the test rows leave open."
        equal = (
            "None of the others can"
            if len(self.equals) == others
            else f"{len(self.equals)} of the {others} others cannot"
        )
        return (
            f"How sure is that? {equal} be told apart from it with so few test rows: an accuracy is sure to about "
            f"± {self.margin:.1f} points."
        )


def answer_of(records, set_name):
    """Return the :class:`Answer` for a set, or None if nothing has been run on it."""
    found = sorted(candidates_of(records, set_name), key=lambda one: (-one.accuracy, one.seconds))
    if not found:
        return None
    best, *others = found
    return Answer(best, [other for other in others if not are_apart(best, other)], found)


def candidates_of(records, set_name):
    """Yield what was measured of every method at every r; all features have no r, and are there once."""
    for method, by_r in records.of_set(set_name).items():
        for r, group in by_r.items():
            yield Candidate(
                method,
                r if METHODS[method].projects else None,
                group.accuracy.mean,
                group.accuracy.std,
                group.seconds.mean,
                group.model_bytes.mean,
                group.records[0]["shape"][1],
                len(group.records),
                group.id,
            )
            if not METHODS[method].projects:
                break


def are_apart(best, other):
    """Say whether two accuracies differ by more than chance."""
    return best.accuracy - other.accuracy > ERRORS * np.hypot(best.standard_error, other.standard_error)


def python_of(candidate):
    """Return the estimator that does the same, as one would write it."""
    method = METHODS[candidate.method]
    if not method.projects:
        return "isrht.LinearSVMCV()"
    if candidate.method in SELECTIONS:
        return f'isrht.ISRHTClassifier({candidate.r}, selection="{SELECTIONS[candidate.method]}")'
    options = "".join(f", {name}={value!r}" for name, value in method.options)
    if method.base in SELECTIONS:
        sketch = {None: "", "2r": f", sketch_size={2 * candidate.r}"}.get(
            method.sketch_size, f", sketch_size={method.sketch_size}"
        )
        return f'isrht.ISRHTClassifier({candidate.r}, selection="{SELECTIONS[method.base]}"{options}{sketch})'
    return f'make_pipeline(isrht.make_projection("{method.base}", {candidate.r}), isrht.LinearSVMCV())'
