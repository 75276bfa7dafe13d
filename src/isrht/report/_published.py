"""The paper's numbers, and whether ours differ from them by more than chance.

Where both sides have a standard deviation over 15 projections, the difference is judged by Welch's t-test from means
and deviations. Where there is one run on either side, by a z-test of two proportions on the test rows. Both see only
chance in the projections (or in the test rows): other splits, stand-ins and solvers come on top, so a small p says
"not the same numbers", not why.
"""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

import numpy as np

REPETITIONS = 15
SIGNIFICANT = 0.01


@dataclass(frozen=True)
class Difference:
    """Ours minus published in points, the p-value of the test named, and whether it is below 0.01."""

    points: float
    p: float
    test: str

    @property
    def significant(self):
        return self.p < SIGNIFICANT

    @property
    def text(self):
        return f"{self.points:+.2f}{'*' if self.significant else ''}"


@cache
def paper():
    """The content of ``published.toml``."""
    return tomllib.loads(files("isrht.report").joinpath("published.toml").read_text(encoding="utf-8"))


def published(method, paper_name):
    """``(mean, std or None)`` of a row and column of the results table in percent, or None."""
    cell = paper()["results"].get(method or "", {}).get(paper_name or "")
    return None if cell is None else (cell["accuracy"][0], cell["accuracy"][1] if len(cell["accuracy"]) > 1 else None)


def compare(ours, theirs, n_test):
    """The difference of our :class:`~isrht.report.aggregate.Mean` from a published (mean, std)."""
    mean, std = theirs
    points = ours.mean - mean
    if std is not None and ours.std is not None:
        return Difference(points, _welch(ours.mean, ours.std, ours.n, mean, std, REPETITIONS), "Welch t")
    return Difference(points, _proportions(ours.mean / 100, mean / 100, n_test), "z of proportions")


def _welch(mean, std, n, other_mean, other_std, other_n):
    from scipy.stats import ttest_ind_from_stats

    if std == other_std == 0:
        return 1.0 if mean == other_mean else 0.0
    return float(ttest_ind_from_stats(mean, std, n, other_mean, other_std, other_n, equal_var=False).pvalue)


def _proportions(first, second, n_test):
    from scipy.stats import norm

    pooled = (first + second) / 2
    spread = np.sqrt(2 * pooled * (1 - pooled) / n_test)
    return float(2 * norm.sf(abs(first - second) / spread)) if spread > 0 else 1.0
