"""The paper's numbers, and whether ours differ from them by more than chance.

If both have a standard deviation over 15 projections, the difference is judged by Welch's t-test from means and
deviations; if there is only one run of either, by a z-test of two proportions on the test rows. Both tests see only the
chance in the projections, or in the test rows. Other splits, stand-ins and solvers make differences of their own, so a
small p says that the numbers are not the same, but not why.
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
    """Our accuracy minus the published one in points, and the p-value of the test that is named."""

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
    """Return the content of ``published.toml``."""
    return tomllib.loads(files("isrht.report").joinpath("published.toml").read_text(encoding="utf-8"))


def published(method, paper_name):
    """Return the published ``(mean, std)`` of a method on a set in percent, or None; std may be None alone."""
    cell = paper()["results"].get(method or "", {}).get(paper_name or "")
    return None if cell is None else (cell["accuracy"][0], cell["accuracy"][1] if len(cell["accuracy"]) > 1 else None)


def difference_from_published(ours, theirs, n_test):
    """Return the :class:`Difference` of our :class:`~isrht.report.aggregate.Mean` from a published (mean, std)."""
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
