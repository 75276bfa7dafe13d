"""Does ``ISRHTClassifier(blend=True)`` lose nothing against all features, and gain on average? Accuracy as Markdown.

Each split (70 to 30, stratified) trains three models that choose everything on its training rows: an SVM on all
features with C from 2**-10 to 2**5 by 5-fold cross-validation, boosted columns, and their blend. ``python -m
benchmarks.boosting_blend --data DIR --sets mushrooms digits10`` takes sets as ``isrht data`` knows them, scaled as it
says, the digits of ten classes, usps and mnist of ten classes (LIBSVM files of ``--data``), "reviews" of ``bench_wide``
and shapes of ``boosting_shapes``; ``--keel FOLDER`` takes those of ``boosting_further``. A split takes long on large
sets, so every one is a line of ``--record``, which a later call goes on with; ``--splits 0`` prints the table of what
is there.
"""

import argparse
import json
import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import time
import warnings
from pathlib import Path

import numpy as np
from sklearn.datasets import load_digits
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import train_test_split

from benchmarks.bench_boosting import WIDE_CS
from benchmarks.bench_wide import reviews
from benchmarks.boosting_further import load as load_keel
from benchmarks.boosting_mixture import difference
from benchmarks.boosting_shapes import SHAPES
from isrht import ISRHTClassifier, LinearSVMCV
from isrht.datasets import describe, load
from isrht.datasets.loading import scale
from isrht.files import read_rows

NAMES = ("all features", "boosted r=16", "blended r=16")


# Sets of ten classes: their files, how many features they have, by what to divide them, and how many rows are used.
TEN_CLASSES = {
    "usps10": (("usps.xz", "usps.t.xz"), 256, 1, None),
    "mnist10": (("mnist.bz2", "mnist.t.bz2"), 784, 255, 10_000),
}


def models(seed):
    yield LinearSVMCV(WIDE_CS, random_state=seed)
    yield ISRHTClassifier(16, random_state=seed)
    yield ISRHTClassifier(16, blend=True, random_state=seed)


def read(name, args):
    """Return rows, labels and how features are scaled."""
    if name == "digits10":
        return *load_digits(return_X_y=True), "minmax"
    if name in TEN_CLASSES:
        return *ten_classes(Path(args.data), *TEN_CLASSES[name]), None
    if name == "reviews":
        return *reviews(), None
    if name in SHAPES:
        return *SHAPES[name](), None
    if args.keel and (path := args.keel / f"{name}.dat").exists():
        return *load_keel(path), "minmax"
    found = load(name, args.data)
    return found.X, found.y, describe(name).scale


def ten_classes(folder, names, n_features, divisor, most):
    """Return all rows of some files or, drawn always the same, so many of them."""
    X, y, _ = read_rows([folder / name for name in names], n_features=n_features)
    chosen = np.random.default_rng(0).permutation(len(y))[:most]
    return (X[chosen] / divisor).toarray(), y[chosen]


def measured(name, data, seed):
    """Return what one split shows, as a record."""
    X, y, rule = data
    X, X_test, y, y_test = train_test_split(X, y, test_size=0.3, stratify=y, random_state=seed)
    X, X_test = scale(rule, X, X_test)
    accuracies, seconds = [], []
    for model in models(seed):
        start = time.process_time()
        model.fit(X, y)
        seconds.append(round(time.process_time() - start, 3))
        accuracies.append(round(100 * model.score(X_test, y_test), 4))
    return dict(set=name, seed=seed, accuracies=accuracies, seconds=seconds, share=model.blend_share_)


def table(records, names):
    """Print one row per set, and what all of them say together."""
    print(f"| data | splits | {' | '.join(NAMES)} | blend less all features | less boosted | share | its time |")
    print("|---" * 9 + "|")
    gains = []
    for name in names:
        found = [record for record in records if record["set"] == name]
        if not found:
            continue
        values = np.array([record["accuracies"] for record in found])
        seconds = np.array([record["seconds"] for record in found]).mean(axis=0)
        cells = [str(len(found)), *(f"{mean:.2f}" for mean in values.mean(axis=0))]
        cells += [difference(values[:, 2] - values[:, other]) for other in (0, 1)]
        cells += [f"{np.mean([record['share'] for record in found]):.2f}", f"{seconds[2] / seconds[1]:.1f} x"]
        print(f"| {name} | {' | '.join(cells)} |")
        gains.append((values - values[:, :1]).mean(axis=0))
    gains = np.array(gains)
    for column, name in enumerate(NAMES[1:], 1):
        print(f"\n{name}, less all features, over {len(gains)} sets: {difference(gains[:, column])}, ", end="")
        print(f"median {np.median(gains[:, column]):+.2f}, least {gains[:, column].min():+.2f}")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data")
    parser.add_argument("--sets", nargs="*", default=["digits", "digits10"])
    parser.add_argument("--keel", type=Path)
    parser.add_argument("--splits", type=int, default=10)
    parser.add_argument("--seed", type=int, default=31_000)
    parser.add_argument("--record", type=Path, default=Path("boosting_blend.jsonl"))
    args = parser.parse_args()
    warnings.simplefilter("ignore", ConvergenceWarning)
    names = [*args.sets, *(sorted(path.stem for path in args.keel.glob("*.dat")) if args.keel else [])]
    records = [json.loads(line) for line in args.record.read_text().splitlines()] if args.record.exists() else []
    done = {(record["set"], record["seed"]) for record in records}
    for name in names:
        seeds = [seed for seed in range(args.seed, args.seed + args.splits) if (name, seed) not in done]
        data = read(name, args) if seeds else None
        for seed in seeds:
            records.append(measured(name, data, seed))
            with args.record.open("a") as file:
                file.write(json.dumps(records[-1]) + "\n")
    table(records, names)


if __name__ == "__main__":
    main()
