"""Linear SVMs on all features of wide data: LinearSVM and LinearSVMCV against LinearSVC and LIBLINEAR, one thread each.

``python -m benchmarks.bench_wide`` makes its data; with ``--data DIR``, a folder of LIBSVM files as ``isrht data``
knows them, it takes rcv1 and news20 too. Times are of the processor, in one run. One fit is for C = 1, at the default
tolerance of each, and its objective is told beside it. A search has 11 Cs and 5 folds. That of scikit-learn is scaled
up from one fold, unless ``--all-folds`` asks for all, which shows whether both choose the same C. LIBLINEAR's ``train
-C``, which begins at the smallest C and stops by itself, is scaled up by the number of Cs it tried. ``--threads`` times
a second thread, by the clock, and two processes that share nothing, which shows what a second core of the machine is
worth: nothing else should run then.
"""

import argparse
import multiprocessing
import time
import warnings

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.feature_extraction.text import TfidfTransformer
from sklearn.model_selection import StratifiedKFold
from sklearn.svm import LinearSVC

from benchmarks.bench_svm import liblinear_path, seconds
from benchmarks.boosting_shapes import rows_of_words
from isrht import LinearSVM, LinearSVMCV
from isrht.linear.costs import DEFAULT_CS

FOLDS = 5


def reviews(n_samples=25_000, n_features=18_500, per_row=147, seed=6):
    """Return tf-idf rows of unit norm with about 3.3 million values, words by Zipf's law, of which a tenth tells."""
    rng = np.random.default_rng(seed)
    counts = rows_of_words(rng, n_samples, 1 / (20 + np.arange(n_features)), per_row)
    X = TfidfTransformer(sublinear_tf=True).fit_transform(counts)
    signal = X @ (rng.standard_normal(n_features) * (rng.random(n_features) < 0.1))
    signal += 0.7 * signal.std() * rng.standard_normal(n_samples)
    return X, (signal > np.median(signal)).astype(int)


def sets(data_dir):
    """Yield the name, the rows and the labels of every set."""
    yield "reviews", *reviews()
    if data_dir is None:
        return
    from isrht.datasets.loading import load

    for name in ("rcv1sub.binary", "news20.binary.rebuilt"):
        found = load(name, data_dir)
        yield name, found.X[found.train], (found.y[found.train] == found.y.max()).astype(int)


def objective(model, X, y):
    """Return what all of them minimise, for C = 1."""
    hinge = np.maximum(0, 1 - (2 * y - 1) * model.decision_function(X))
    return 0.5 * (model.coef_**2).sum() + 0.5 * float(model.intercept_[0] ** 2) + hinge @ hinge


def compare_fits(X, y):
    ours, theirs = LinearSVM(), LinearSVC()
    times = seconds(lambda: ours.fit(X, y), 3), seconds(lambda: theirs.fit(X, y), 3)
    best = min(objective(ours, X, y), objective(theirs, X, y))
    for name, model, taken in zip(("LinearSVM", "LinearSVC"), (ours, theirs), times, strict=True):
        print(
            f"  {name:28} {taken:8.3f} s   objective {objective(model, X, y) / best - 1:.1e} above the better",
            flush=True,
        )


def grid_scores(X, y, n_folds):
    """Return the seconds of a grid of LinearSVC, from its first folds, and their scores (Cs, folds)."""
    splits = list(StratifiedKFold(FOLDS).split(X, y))[:n_folds]
    scores = np.empty((len(DEFAULT_CS), n_folds))

    def fit_all():
        for k, (train, test) in enumerate(splits):
            for c, C in enumerate(DEFAULT_CS):
                scores[c, k] = LinearSVC(C=C, random_state=0).fit(X[train], y[train]).score(X[test], y[test])

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        taken = FOLDS / n_folds * seconds(fit_all)
    return taken, scores


def compare_searches(X, y, n_folds):
    model = LinearSVMCV()
    ours = seconds(lambda: model.fit(X, y), 2)
    print(
        f"  {'LinearSVMCV':28} {ours:8.2f} s   C={model.C_:g}, mean score {100 * model.mean_scores_.max():.2f}",
        flush=True,
    )
    hasty = LinearSVMCV(patience=2)
    print(f"  {'LinearSVMCV(patience=2)':28} {seconds(lambda: hasty.fit(X, y)):8.2f} s   C={hasty.C_:g}", flush=True)
    taken, scores = grid_scores(X, y, n_folds)
    differs = 100 * np.abs(scores - model.scores_[:, :n_folds]).max()
    print(f"  {'grid of LinearSVC':28} {taken:8.2f} s   {taken / ours:5.1f} x   (of {n_folds} folds; ", end="")
    print(f"scores of a fold differ by up to {differs:.2f} points from ours)", flush=True)
    if n_folds == FOLDS:
        means, chosen = 100 * scores.mean(axis=1), np.searchsorted(DEFAULT_CS, model.C_)
        print(f"  {'':28} it chooses C={DEFAULT_CS[means.argmax()]:g} at {means.max():.3f}, ", end="")
        print(f"and has {means[chosen]:.3f} at C={model.C_:g}; mean scores of all Cs differ by up to ", end="")
        print(f"{np.abs(means - 100 * model.mean_scores_).max():.3f}", flush=True)
    taken, how = liblinear_path(X, y)
    if taken is None:
        print(f"  LIBLINEAR: {how}")
    else:
        print(f"  {'LIBLINEAR train -C':28} {taken:8.2f} s   {taken / ours:5.1f} x   ({how})", flush=True)


def least_seconds(n_jobs, X, y, barrier=None):
    """Return the least seconds of four searches by the clock; each begins when all have come to the barrier."""
    model, best = LinearSVMCV(n_jobs=n_jobs), np.inf
    for _ in range(4):
        if barrier is not None:
            barrier.wait()
        start = time.perf_counter()
        model.fit(X, y)
        best = min(best, time.perf_counter() - start)
    return best


def search_beside(barrier, seconds, X, y):
    seconds.put(least_seconds(1, X, y, barrier))


def seconds_beside_another(X, y):
    """Return the seconds of a search with one thread while another process does the same."""
    context = multiprocessing.get_context("fork")
    barrier, times = context.Barrier(2), context.Queue()
    both = [context.Process(target=search_beside, args=(barrier, times, X, y)) for _ in range(2)]
    for process in both:
        process.start()
    slower = max(times.get() for _ in both)
    for process in both:
        process.join()
    return slower


def compare_threads(X, y):
    one, two, beside = least_seconds(1, X, y), least_seconds(2, X, y), seconds_beside_another(X, y)
    print(f"  {'two threads':28} {two:8.2f} s   {one / two:5.2f} x faster than one, by the clock")
    print(f"  {'two processes, a search each':28} {beside:8.2f} s   {2 * one / beside:5.2f} x as much in the ", end="")
    print("same time as one process, which is what the machine has to give", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", metavar="DIR", help="a folder with rcv1 and news20")
    parser.add_argument("--sets", nargs="*", help="only sets of these names")
    parser.add_argument("--all-folds", action="store_true", help="let the grid of LinearSVC have all folds, not one")
    parser.add_argument("--threads", action="store_true", help="time two threads instead of peers")
    args = parser.parse_args()
    for name, X, y in sets(args.data):
        if args.sets and name not in args.sets:
            continue
        print(f"{name}: {X.shape[0]} x {X.shape[1]}, {X.nnz} values")
        if args.threads:
            compare_threads(X, y)
        else:
            compare_fits(X, y)
            compare_searches(X, y, FOLDS if args.all_folds else 1)


if __name__ == "__main__":
    main()
