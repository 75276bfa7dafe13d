"""Sentences that say what a reader should take away from a page about the paper, computed from its records.

A sentence compares two methods at the r of each set, over all sets that have both. Where nothing can be compared there
is no sentence, and what cannot be told from chance is not called better.
"""

from __future__ import annotations

from dataclasses import dataclass

from isrht.datasets.registry import describe
from isrht.experiments.methods import BOOSTED
from isrht.report._published import SIGNIFICANT, difference_from_published, published


@dataclass(frozen=True)
class Gain:
    """The points by which one method is more accurate than another on one set, and whether that is more than chance."""

    set: str
    points: float
    is_sure: bool


def takeaways(records):
    """Return the sentences, the most important first."""
    sentences = (_choosing_helps(records), _boosted_columns(records), _agreement(records), _stand_ins(records))
    return [sentence for sentence in sentences if sentence]


def _choosing_helps(records):
    gains = gains_of(records, "ISRHT-supervised", "SRHT")
    if not gains:
        return ""
    better = sum(gain.points > 0 for gain in gains)
    return (
        f"Choosing columns by the labels helps: ISRHT-supervised is more accurate than the blind draw of SRHT on "
        f"{_of_sets(better, gains)}, by {_range(gains)} ({_sure(gains)})."
    )


def _boosted_columns(records):
    gains = gains_of(records, BOOSTED, "All features")
    if not gains:
        return ""
    near = sum(gain.points > -0.5 for gain in gains)
    return (
        f"Columns that learn lose little or nothing: boosted columns come within half a point of all features, or "
        f"exceed them, on {_of_sets(near, gains)}; the difference is {_range(gains)} ({_sure(gains)})."
    )


def _agreement(records):
    """Say on how many sets of the paper, or stand-ins for them, SRHT is what was published."""
    agreeing, sets = 0, 0
    for name in records.sets:
        description = describe(name)
        group = records.group(name, "SRHT, sketch 2r" if description.sparse else "SRHT", description.r)
        theirs = published("SRHT", description.paper_name)
        if group is None or theirs is None:
            continue
        ours = group.best_accuracy or group.accuracy
        sets += 1
        agreeing += difference_from_published(ours, theirs, group.records[0]["shape"][1]).p >= SIGNIFICANT
    if not sets:
        return ""
    return (
        f"The experiment is the same one: made the same way, our SRHT agrees with the published accuracy within chance "
        f"on {agreeing} of {sets} sets."
    )


def _stand_ins(records):
    names = [name for name in records.sets if describe(name).stands_for]
    if not names:
        return ""
    return (
        f"{_listed(names)} {'stands' if len(names) == 1 else 'stand'} in for sets of the paper that were not available."
    )


def gains_of(records, method, other):
    """Return the :class:`Gain` of one method over another for every set that has both at its r."""
    gains = []
    for name in records.sets:
        r = describe(name).r
        ours, theirs = records.group(name, method, r), records.group(name, other, r)
        if name != "blobs" and ours is not None and theirs is not None:
            n_test = ours.records[0]["shape"][1]
            level = theirs.accuracy.mean, theirs.accuracy.std
            is_sure = difference_from_published(ours.accuracy, level, n_test).p < SIGNIFICANT
            gains.append(Gain(name, ours.accuracy.mean - theirs.accuracy.mean, is_sure))
    return gains


def _of_sets(count, gains):
    if len(gains) == 1:
        return f"the one set that was run, {gains[0].set}" if count else "none of the one set that was run"
    return f"all {len(gains)} sets" if count == len(gains) else f"{count} of {len(gains)} sets"


def _range(gains):
    low, high = min(gain.points for gain in gains), max(gain.points for gain in gains)
    return f"{low:+.1f} points" if f"{low:.1f}" == f"{high:.1f}" else f"{low:+.1f} to {high:+.1f} points"


def _sure(gains):
    sure = sum(gain.is_sure for gain in gains)
    return f"on {sure} of {len(gains)} more than chance, p < {SIGNIFICANT}"


def _listed(names):
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
