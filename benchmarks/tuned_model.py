"""Accuracy against the seconds to a tuned model: ours, and what users would pick instead, as one figure and one table.

``python -m benchmarks.tuned_model --data DIR`` runs every method on every set. What was measured is kept in
``benchmarks/results/tuned_model.jsonl``, so that the same command goes on where it was stopped; to measure anew, remove
lines of it, or the file. From it come the figure of the README, ``docs/pictures/tuned_model.svg``, and the table,
``benchmarks/results/tuned_model.md``. Without ``--data`` only sets that are made here are run; ``--sets`` and
``--methods`` choose some.

A tuned model is one whose parameters are chosen by cross-validation on the training rows (70 %, or as the set is
given), and then trained on all of them. Peers have the settings that their users would take: scikit-learn's defaults,
5 folds, a grid as wide as ours, sparse solvers for sparse rows. Each run has a process of its own, one thread, and at
most ``--limit`` seconds of the processor; one that takes longer is shown as such. Times are of the processor.
"""

import argparse
import json
import resource
import subprocess
import sys
import time
import warnings
from html import escape
from pathlib import Path

import numpy as np
import scipy.sparse as sp

ROOT = Path(__file__).parents[1]
RESULTS = ROOT / "benchmarks" / "results"
MADE = ("reviews",)
SETS = ("mushrooms", "usps-b", "gisette-like", "reviews", "rcv1sub.binary", "news20.binary.rebuilt")


def boosted(X, y):
    from isrht import ISRHTClassifier

    return ISRHTClassifier(16, selection="boosted", random_state=0).fit(X, y).predict


def linear_svm_cv(X, y):
    from isrht import LinearSVMCV

    return LinearSVMCV().fit(X, y).predict


def grid_of(estimator, name, values, X, y):
    from sklearn.model_selection import GridSearchCV

    return GridSearchCV(estimator, {name: values}, cv=5).fit(X, y).predict


def linear_svc(X, y):
    from sklearn.svm import LinearSVC

    from isrht.linear.costs import DEFAULT_CS

    return grid_of(LinearSVC(), "C", DEFAULT_CS, X, y)


def liblinear(X, y):
    from liblinear.liblinearutil import predict, problem, train

    from isrht.linear.costs import DEFAULT_CS

    data = problem(y, X, 1)
    best, _, _ = train(data, f"-C -s 2 -v 5 -B 1 -c {DEFAULT_CS[0]} -q")
    model = train(data, f"-s 2 -B 1 -c {best} -q")
    return lambda rows: np.array(predict([], rows, model, "-q")[0])


def logistic_regression(X, y):
    from sklearn.linear_model import LogisticRegressionCV

    Cs = 2.0 ** np.arange(-3, 12)
    return LogisticRegressionCV(Cs=Cs, cv=5, max_iter=1000).fit(X, y).predict


def sgd(X, y):
    from sklearn.linear_model import SGDClassifier

    return grid_of(SGDClassifier(average=True, random_state=0), "alpha", 10.0 ** np.arange(-7, -1), X, y)


def ridge(X, y):
    from sklearn.linear_model import RidgeClassifier, RidgeClassifierCV

    alphas = 10.0 ** np.arange(-3, 4)
    if X.shape[1] <= 5000 and not sp.issparse(X):
        return RidgeClassifierCV(alphas).fit(X, y).predict
    return grid_of(RidgeClassifier(solver="sparse_cg"), "alpha", alphas, X, y)


def pls_tuned(X, y):
    from benchmarks.boosting_peers import pls

    labels = np.unique(y)
    predict = pls(16, tuned=True)(X, np.where(y == labels[1], 1, -1), 0)[0]
    return lambda rows: labels[(predict(rows) > 0).astype(int)]


def svd_and_svm(X, y):
    from sklearn.decomposition import PCA, TruncatedSVD
    from sklearn.pipeline import make_pipeline
    from sklearn.svm import LinearSVC

    from isrht.linear.costs import DEFAULT_CS

    size = min(100, X.shape[1] - 1)
    reduced = TruncatedSVD(size, random_state=0) if sp.issparse(X) else PCA(size, random_state=0)
    projected = make_pipeline(reduced).fit(X)
    predict = grid_of(LinearSVC(dual="auto"), "C", DEFAULT_CS, projected.transform(X), y)
    return lambda rows: predict(projected.transform(rows))


OURS = {"isrht: boosted columns, r = 16": boosted, "isrht: LinearSVMCV": linear_svm_cv}
PEERS = {
    "LinearSVC, grid": linear_svc,
    "LIBLINEAR -C": liblinear,
    "LogisticRegressionCV": logistic_regression,
    "averaged SGD, grid": sgd,
    "ridge, chosen by CV": ridge,
    "PLS, up to 16": pls_tuned,
    "PCA/SVD 100 + LinearSVC": svd_and_svm,
}
METHODS = OURS | PEERS
COLOURS = ("#d1123f", "#2f5fd0", "#1c1d20", "#7b46c9", "#c25700", "#0f7a65", "#7a7500", "#08788f", "#8a5a35")


def rows_of(name, data_dir):
    """Return training rows and labels, test rows and labels."""
    if name == "reviews":
        from sklearn.model_selection import train_test_split

        from benchmarks.bench_wide import reviews

        X, y = reviews()
        X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.3, stratify=y, random_state=0)
        return X_train, y_train, X_test, y_test
    from isrht.datasets.loading import load

    X_train, y_train, X_test, y_test = load(name, data_dir).scaled
    if sp.issparse(X_train):
        X_train, X_test = sp.csr_matrix(X_train), sp.csr_matrix(X_test)
    return X_train, y_train, X_test, y_test


def run_one(name, method, data_dir, limit):
    """Train and test here, in a process that the system ends when it has used up its seconds; print a record."""
    X, y, X_test, y_test = rows_of(name, data_dir)
    # What liblinear and others need to be imported is no part of the time.
    warnings.simplefilter("ignore")
    METHODS[method](X[:200], y[:200])
    start = time.process_time()
    resource.setrlimit(resource.RLIMIT_CPU, (int(start + limit) + 1, resource.RLIM_INFINITY))
    predict = METHODS[method](X, y)
    taken = time.process_time() - start
    right = 100 * float(np.mean(predict(X_test) == y_test))
    print(json.dumps({"set": name, "method": method, "seconds": taken, "accuracy": right, "shape": X.shape}))


def measured(name, method, args):
    """Return the record of a run in a process of its own; one without seconds if it took too long or failed."""
    command = [sys.executable, "-m", "benchmarks.tuned_model", "--one", name, method, "--limit", str(args.limit)]
    command += ["--data", args.data] if args.data else []
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT)
    if done.returncode == 0:
        return json.loads(done.stdout.splitlines()[-1])
    why = "limit" if done.returncode == -24 else done.stderr.strip().splitlines()[-1:]
    return {"set": name, "method": method, "seconds": None, "accuracy": None, "why": why, "limit": args.limit}


def journal_of(path):
    """Return what was measured before, by set and method."""
    lines = path.read_text().splitlines() if path.exists() else []
    return {(record["set"], record["method"]): record for record in map(json.loads, lines)}


def table(records, sets):
    """Return the records as Markdown: a row for each method, the best accuracy and the least time of a set in bold."""
    lines = [f"| tuned model | {' | '.join(sets)} |", f"|---|{'---|' * len(sets)}"]
    for method in METHODS:
        cells = [cell(records, name, method) for name in sets]
        lines.append(f"| {method} | {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def cell(records, name, method):
    record = records.get((name, method))
    if record is None:
        return ""
    if record["seconds"] is None:
        return f"> {record['limit']:g} s" if record["why"] == "limit" else "failed"
    others = [one for (set_, _), one in records.items() if set_ == name and one["seconds"] is not None]
    accuracy, seconds = f"{record['accuracy']:.2f}", f"{number(record['seconds'])} s"
    if record["accuracy"] == max(one["accuracy"] for one in others):
        accuracy = f"**{accuracy}**"
    if record["seconds"] == min(one["seconds"] for one in others):
        seconds = f"**{seconds}**"
    return f"{accuracy}; {seconds}"


def number(seconds):
    return f"{seconds:.2g}" if seconds < 10 else f"{seconds:.0f}"


PANEL, PANEL_HEIGHT, LEFT, TOP, BOTTOM, GAP, COLUMNS = 270, 220, 44, 40, 34, 14, 3


def figure(records, sets):
    """Return an SVG with a panel for each set: accuracy against seconds, which are logarithmic."""
    n_rows = -(-len(sets) // COLUMNS)
    legend = TOP + n_rows * (PANEL_HEIGHT + GAP)
    width, height = COLUMNS * (PANEL + GAP) + GAP, legend + 18 * (-(-len(METHODS) // COLUMNS)) + 12
    parts = [
        text(GAP, 22, "Test accuracy (%) against the seconds to a tuned model, one thread", "start", "#1c1d20", 15)
    ]
    for k, name in enumerate(sets):
        left, top = GAP + k % COLUMNS * (PANEL + GAP), TOP + k // COLUMNS * (PANEL_HEIGHT + GAP)
        parts.append(f'<g transform="translate({left},{top})">{panel(records, name)}</g>')
    for k, method in enumerate(METHODS):
        x, y = GAP + 10 + k % COLUMNS * (PANEL + GAP), legend + 12 + 18 * (k // COLUMNS)
        parts += [marker(x, y - 4, k, method), text(x + 12, y, method, "start", COLOURS[k])]
    size = f'viewBox="0 0 {width} {height}" font-family="sans-serif" font-size="12"'
    head = f'<svg xmlns="http://www.w3.org/2000/svg" {size} role="img">'
    return "\n".join([head, f'<rect width="{width}" height="{height}" fill="#fff"/>', *parts, "</svg>\n"])


def panel(records, name):
    """Return one panel. Methods that took too long are not in it; the table tells of them."""
    found = [(k, records[name, method]) for k, method in enumerate(METHODS) if (name, method) in records]
    found = [(k, record) for k, record in found if record["seconds"] is not None]
    seconds, accuracies = zip(*((record["seconds"], record["accuracy"]) for _, record in found), strict=True)
    low, high = np.floor(np.log10(min(seconds))), np.ceil(np.log10(max(seconds)) + 1e-9)
    best = max(accuracies)
    worst = max(min(accuracies), best - 6)  # what is further below is drawn at the lower edge

    def place(second, accuracy):
        x = LEFT + (PANEL - LEFT - 10) * (np.log10(second) - low) / (high - low)
        share = (max(accuracy, worst) - worst) / max(best - worst, 0.1)
        return x, PANEL_HEIGHT - BOTTOM - 10 - (PANEL_HEIGHT - BOTTOM - 34) * share

    rows, features = found[0][1]["shape"]
    digits = 1 if best - worst > 1 else 2
    kind = f"{name} (made)" if name in MADE else name
    parts = [text(LEFT, 12, f"{kind}: {rows:,} x {features:,}", "start", "#1c1d20")]
    frame = f'x="{LEFT}" y="18" width="{PANEL - LEFT}" height="{PANEL_HEIGHT - BOTTOM - 18}"'
    parts.append(f'<rect {frame} fill="none" stroke="#999"/>')
    for power in range(int(low), int(high) + 1):
        x = place(10.0**power, best)[0]
        parts.append(f'<path d="M{x:.1f} 18V{PANEL_HEIGHT - BOTTOM}" stroke="#ddd"/>')
        parts.append(text(x, PANEL_HEIGHT - BOTTOM + 14, f"{10.0**power:g} s"))
    for accuracy in np.linspace(worst, best, 4) if best > worst else [best]:
        y = place(1, accuracy)[1]
        parts += [
            f'<path d="M{LEFT} {y:.1f}H{PANEL}" stroke="#eee"/>',
            text(LEFT - 4, y + 4, f"{accuracy:.{digits}f}", "end"),
        ]
    return "".join(
        parts + [marker(*place(one["seconds"], one["accuracy"]), k, one["method"]) for k, one in reversed(found)]
    )


def marker(x, y, k, method):
    """Return a point: ours are discs, peers are squares; its title is its method."""
    title = f"<title>{escape(method)}</title>"
    if method in OURS:
        return f'<circle cx="{x:.1f}" cy="{y:.1f}" r="6" fill="{COLOURS[k]}">{title}</circle>'
    return f'<rect x="{x - 4:.1f}" y="{y - 4:.1f}" width="8" height="8" fill="{COLOURS[k]}">{title}</rect>'


def text(x, y, words, anchor="middle", colour="#555", size=12):
    style = f'text-anchor="{anchor}" fill="{colour}" font-size="{size}"'
    return f'<text x="{x:.1f}" y="{y:.1f}" {style}>{escape(str(words))}</text>'


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", help="a folder with the files of the sets")
    parser.add_argument("--sets", nargs="+", help=f"of: {', '.join(SETS)}")
    parser.add_argument("--methods", nargs="+", metavar="METHOD", help="names of methods to run")
    parser.add_argument("--limit", type=float, default=120, help="seconds of the processor for each run")
    parser.add_argument("--journal", type=Path, default=RESULTS / "tuned_model.jsonl")
    parser.add_argument("--figure", type=Path, default=ROOT / "docs" / "pictures" / "tuned_model.svg")
    parser.add_argument("--table", type=Path, default=RESULTS / "tuned_model.md")
    parser.add_argument("--one", nargs=2, metavar=("SET", "METHOD"), help=argparse.SUPPRESS)
    return parser.parse_args()


def main():
    args = arguments()
    if args.one:
        return run_one(*args.one, args.data, args.limit)
    sets = args.sets or [name for name in SETS if args.data or name in MADE]
    records = journal_of(args.journal)
    args.journal.parent.mkdir(parents=True, exist_ok=True)
    for name in sets:
        for method in args.methods or METHODS:
            if (name, method) not in records:
                records[name, method] = measured(name, method, args)
                with args.journal.open("a") as journal:
                    journal.write(json.dumps(records[name, method]) + "\n")
            print(f"{name:22} {method:32} {cell(records, name, method)}", flush=True)
    shown = [name for name in SETS if any(one["seconds"] for (set_, _), one in records.items() if set_ == name)]
    args.figure.write_text(figure(records, shown))
    head = (
        "Test accuracy (%) of one split, and seconds of the processor, one thread, until the model is tuned, by "
        "`python -m benchmarks.tuned_model`. What took longer than its limit was stopped."
    )
    args.table.write_text(head + "\n\n" + table(records, shown))
    return None


if __name__ == "__main__":
    main()
