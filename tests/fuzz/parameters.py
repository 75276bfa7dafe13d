"""The parameters of every estimator: values that always serve, legal ones that may not, and illegal ones."""

from __future__ import annotations

import copy
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from hypothesis import strategies as st
from sklearn.metrics import accuracy_score, make_scorer
from sklearn.model_selection import KFold, LeaveOneOut, ShuffleSplit, StratifiedKFold

from isrht import (
    ISRHT,
    BoostedISRHT,
    HadamardFourierFeatures,
    HadamardRotation,
    ISRHTClassifier,
    LeverageScoreSelection,
    LinearSVM,
    LinearSVMCV,
    SparseEmbedding,
)


class Values(NamedTuple):
    """``sure`` serve all ordinary data, ``odd`` may be refused, ``illegal`` must be."""

    sure: list
    odd: tuple | list = ()
    illegal: tuple | list = ()


@dataclass(frozen=True)
class Splits:
    """A cross-validation that is given as pairs of rows, which need not be sound."""

    kind: str

    def make(self, n_rows):
        even, odd = np.arange(0, n_rows, 2), np.arange(1, n_rows, 2)
        return SPLITS[self.kind](even, odd, n_rows)


SPLITS = {
    "thirds": lambda even, odd, n: [
        (np.setdiff1d(np.arange(n), third), third) for third in np.array_split(np.arange(n), 3)
    ],
    "lists": lambda even, odd, n: [(even.tolist(), odd.tolist())],
    "iterator": lambda even, odd, n: iter([(even, odd)]),
    "overlapping": lambda even, odd, n: [(np.arange(n), np.arange(n))],
    "repeated": lambda even, odd, n: [(np.concatenate([even, even]), np.concatenate([odd, odd[:1]]))],
    "masks": lambda even, odd, n: [(np.arange(n) % 2 == 0, np.arange(n) % 2 == 1)],
    "counted from the end": lambda even, odd, n: [(even - n, odd - n)],
    "unsigned": lambda even, odd, n: [(even.astype("u8"), odd.astype("u1"))],
    "nothing to train on": lambda even, odd, n: [(even[:0], odd)],
    "nothing held out": lambda even, odd, n: [(even, odd[:0])],
    "nothing": lambda even, odd, n: [(np.array([]), np.array([]))],
    "out of range": lambda even, odd, n: [(even, odd + n)],
    "far out of range": lambda even, odd, n: [(even, np.array([2**40]))],
    "far too negative": lambda even, odd, n: [(even - 10**6, odd)],
    "floats": lambda even, odd, n: [(even.astype(float), odd.astype(float))],
    "words": lambda even, odd, n: [(even.astype(str), odd)],
    "two-dimensional": lambda even, odd, n: [(even[:, None], odd[:, None])],
    "not pairs": lambda even, odd, n: [even, odd],
    "triples": lambda even, odd, n: [(even, odd, odd)],
    "numbers": lambda even, odd, n: [(0, 1)],
    "no split": lambda even, odd, n: [],
}

NAN, INFINITE = float("nan"), float("inf")
NUMBERS = Values([1.0, 0.5, 3], [1e-10, 1e10, np.float32(2)], [0, -1.0, NAN, INFINITE, "1", None, True, [1.0], 1j])
TRUTH = Values([True, False], [np.True_])
RANDOM_STATE = Values([0, 7], [None, np.random.RandomState(3)], [-1, "seed", 1.5, 2**40, [1.5]])
N_JOBS = Values([None, 1, 2], [-1, -5, np.int64(2)], [0, "two", 1.5])
CLASS_WEIGHT = Values(
    [None, "balanced"],
    [{0: 2.0, 1: 1.0}, {"no": 3}, {5: 1.0}, {0: 0.0}, {}, {0: 1e100}],
    ["unbalanced", [1, 2], 3, {0: -1.0}, {0: NAN}, {0: INFINITE}, {0: "heavy"}, {0: None}],
)
CV = Values(
    [2, 3, 5, KFold(3), StratifiedKFold(2, shuffle=True, random_state=0), Splits("thirds")],
    [
        None,
        40,
        LeaveOneOut(),
        ShuffleSplit(2, random_state=0),
        np.int64(2),
        Splits("lists"),
        Splits("iterator"),
        Splits("overlapping"),
        Splits("repeated"),
        Splits("masks"),
        Splits("counted from the end"),
        Splits("unsigned"),
        Splits("nothing to train on"),
        Splits("nothing held out"),
        Splits("nothing"),
    ],
    [
        0,
        1,
        -3,
        10**6,
        2.5,
        "five",
        True,
        Splits("out of range"),
        Splits("far out of range"),
        Splits("far too negative"),
        Splits("floats"),
        Splits("words"),
        Splits("two-dimensional"),
        Splits("not pairs"),
        Splits("triples"),
        Splits("numbers"),
        Splits("no split"),
    ],
)
SCORING = Values(
    [None, "accuracy", "balanced_accuracy"],
    ["f1_macro", "roc_auc", "r2", make_scorer(accuracy_score), len],
    ["nonsense", 3],
)
CS = Values(
    [(1.0,), [0.1, 1.0], np.array([0.5, 2.0]), 1.0],
    [(1, 1, 1), [1e-30, 1e30], np.float32([2, 1]), [[1.0, 2.0]], ["1.0"], (5e-324,)],
    [[], (0.0,), [-1.0, 1.0], [NAN], [INFINITE], "cv", None, [None], {}],
)
C = Values(
    [1.0, 0.1, 10], [1e-10, 1e10, 1e-300, 1e300, np.float32(2)], [0, -1.0, NAN, INFINITE, "one", None, True, [1.0]]
)
BALANCE = NUMBERS
TOL = Values([1e-6, 1e-3], [1e-300, 1e-20, 0.5, 100.0, 1], [0, -1, NAN, INFINITE, "small", None])
MAX_ITER = Values([100, 50], [1, 2], [0, -1, 1.5, "many", None, True])
TOO_MANY = [0, -1, 1.5, "many", True, NAN, -0.5, [2], 2**62, 10**30]
N_COMPONENTS = Values(["auto", 1, 2], [3, 8, 64, 1000, np.int64(3)], [*TOO_MANY, None])
SHARES = Values(["auto", 1, 2], [3, 8, 64, 0.5, 0.99, 1e-300, np.float32(0.5)], [*TOO_MANY, None])
VERBOSE = Values([0, False], [1, np.int64(1)], [-1, "much", None, 0.5])
SVM = {
    "fit_intercept": TRUTH,
    "penalize_intercept": TRUTH,
    "class_weight": CLASS_WEIGHT,
    "tol": TOL,
    "max_iter": MAX_ITER,
    "n_jobs": N_JOBS,
    "verbose": VERBOSE,
}
COLUMNS = {
    "n_components": SHARES,
    "selection": Values(
        ["uniform", "importance", "top", "supervised"], [], ["best", None, 3, ["top"], {}, np.array([1, 2])]
    ),
    "balance": BALANCE,
    "center": TRUTH,
    "replace": TRUTH,
    "sketch_size": Values([None, 8], ["paper", 1, 64, np.int64(5)], [0, -3, 1.5, "large", True, 2**62, [8], 10**30]),
    "n_score_samples": Values([None, 1000], [1, 2, 8, np.int64(5)], [0, -1, 2.5, "all", True, [5]]),
    "random_state": RANDOM_STATE,
    "verbose": VERBOSE,
}

PARAMETERS = {
    ISRHT: COLUMNS | {"class_weight": CLASS_WEIGHT, "n_jobs": N_JOBS},
    BoostedISRHT: {
        "n_components": Values([1, 2, 16], [3, 8, 64, 1000, 10**6, np.int64(3)], [*TOO_MANY[:-2], None, "auto"]),
        "rounds": Values(["auto", 1, 2], [5, 40, 10**6], [0, -1, 1.5, "all", None, True, [1]]),
        "threshold": Values(["auto", 0.0], [2, 1e6, 1e300], [-1.0, NAN, INFINITE, "none", None, True, [1.0]]),
        "diagonal": Values(["auto", "standard", "z"], ["signs"], ["best", None, 0, ["z"], np.array(["z", "z"])]),
        "cv": Values(["auto", *CV.sure], CV.odd, CV.illegal),
        "scoring": Values([None], SCORING.sure + SCORING.odd),
        "scaled": Values([True, False], [np.True_], ["yes", None, 1]),
        "random_state": RANDOM_STATE,
        "n_jobs": N_JOBS,
        "verbose": VERBOSE,
    },
    SparseEmbedding: {
        "n_components": N_COMPONENTS._replace(odd=[*N_COMPONENTS.odd, 5000]),
        "diagonal": Values(["random", "signs", "z"], [], ["best", None, 0, ["z"], np.array(["z", "z"])]),
        "dense_output": TRUTH,
        "random_state": RANDOM_STATE,
    },
    HadamardFourierFeatures: {
        "n_components": Values([1, 2, 16], [3, 64, 1000, np.int64(3)], [*TOO_MANY[:-2], None, "auto", 2**62]),
        "gamma": Values(
            ["scale", 0.5, 1], [1e-300, 1e300, np.float32(0.5)], [0, -1, NAN, INFINITE, "auto", None, True, [1]]
        ),
        "candidates": Values([1, 2], [5, np.int64(2)], [0, -1, 1.5, "two", None, True]),
        "balance": BALANCE,
        "random_state": RANDOM_STATE,
        "n_jobs": N_JOBS,
    },
    HadamardRotation: {
        "n_rounds": Values([1, 2, 3], [np.int64(2)], [0, -1, 4, 1.5, "two", None, True, [1], 10**30]),
        "random_state": RANDOM_STATE,
        "copy": Values([True]),  # False overwrites rows, which is what it is for
        "n_jobs": N_JOBS,
    },
    LeverageScoreSelection: {
        "n_components": N_COMPONENTS,
        "rank": Values([None, 1, 2], [100, np.int64(3)], [0, -1, 1.5, "full", True, [1]]),
        "random_state": RANDOM_STATE,
    },
    LinearSVM: {"C": C, "warm_start": TRUTH, "random_state": RANDOM_STATE, **SVM},
    LinearSVMCV: {
        "Cs": CS,
        "cv": CV,
        "scoring": SCORING,
        "refit": TRUTH,
        "patience": Values([None, 1, 3], [10**6, np.int64(2)], [0, -1, 1.5, "all", True, [1]]),
        "random_state": RANDOM_STATE,
        **SVM,
    },
    ISRHTClassifier: COLUMNS
    | SVM
    | {
        "selection": Values(
            [*COLUMNS["selection"].sure, "boosted"], COLUMNS["selection"].odd, COLUMNS["selection"].illegal
        ),
        "C": Values(["cv", 1.0, 0.1], C.odd, C.illegal),
        "Cs": Values(CS.sure, CS.odd),
        "cv": Values(CV.sure, CV.odd),
        "scoring": Values([None], SCORING.sure + SCORING.odd),
        "project_once": TRUTH,
        "blend": Values([False], [True, np.True_], ["yes", None, 1]),  # rows elsewhere refuse it
        "probability": TRUTH,
        "scale": Values([None, "maxabs"], ["minmax"], ["standard", 1, True, ["maxabs"]]),
    },
}
ESTIMATORS = sorted(PARAMETERS, key=lambda cls: cls.__name__)
NEEDS_LABELS = (BoostedISRHT, LinearSVM, LinearSVMCV, ISRHTClassifier)
TAKES_WEIGHTS = (ISRHT, BoostedISRHT, LinearSVM, LinearSVMCV, ISRHTClassifier)
TAKES_SOURCES = TAKES_WEIGHTS


class Chosen(NamedTuple):
    """Parameters, and whether all of them are sure to serve, or one must be refused."""

    given: dict
    sure: bool
    illegal: bool

    def make(self, n_rows):
        """Return the parameters as objects of their own, for so many rows."""
        return {
            name: value.make(n_rows) if isinstance(value, Splits) else copy.deepcopy(value)
            for name, value in self.given.items()
        }


@st.composite
def parameters(draw, cls, sure=False):
    """Draw some parameters of an estimator. A random state is always given, so that a call can be repeated."""
    table = PARAMETERS[cls]
    names = draw(st.lists(st.sampled_from(sorted(table)), unique=True, max_size=5))
    given, grades = {}, set()
    for name in names:
        grade = "sure" if sure else draw(st.sampled_from(["sure"] * 6 + ["odd"] * 4 + ["illegal"]))
        values = getattr(table[name], grade) or table[name].sure
        given[name] = draw(st.sampled_from(values))
        grades.add(grade if getattr(table[name], grade) else "sure")
    if "random_state" in table:
        given.setdefault("random_state", 0)
    return Chosen(given, grades <= {"sure"}, "illegal" in grades)
