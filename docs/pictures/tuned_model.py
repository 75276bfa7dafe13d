"""Draw the picture of the README, docs/pictures/tuned_model.svg: accuracy against the seconds to a tuned model.

``ISRHT_DATA=FOLDER python docs/pictures/tuned_model.py --measure`` measures it anew on rcv1sub.binary (Reuters
newswire, 23,749 documents, 47,236 words, two classes) and keeps the numbers in tuned_model.json beside this file;
without the option the picture is drawn again from them. Three stratified splits of 70 to 30. Every method chooses its
parameter by 5-fold cross-validation on the training rows; seconds are CPU seconds of one thread, from the matrix of
words to the fitted model, so a busy machine disturbs them little.
"""

from __future__ import annotations

import os
import platform
import time
import warnings
from pathlib import Path

import matplotlib
import matplotlib.pyplot as plt
import numpy as np
from _record import run

HERE = Path(__file__).parent
RECORD, PICTURE = HERE / "tuned_model.json", HERE / "tuned_model.svg"
SPLITS = (0, 1, 2)
CS = 2.0 ** np.arange(-5, 6)


def methods(seed):
    """Return the compared models by name; those of this package come first."""
    from sklearn.linear_model import LogisticRegression, SGDClassifier
    from sklearn.model_selection import GridSearchCV
    from sklearn.naive_bayes import ComplementNB
    from sklearn.svm import LinearSVC

    from isrht import ISRHTClassifier, LinearSVMCV

    sgd = SGDClassifier(average=True, random_state=seed)
    return {
        "isrht: ISRHTClassifier()": ISRHTClassifier(random_state=seed),
        "isrht: LinearSVMCV()": LinearSVMCV(),
        "LinearSVC, grid of 11 C": GridSearchCV(LinearSVC(random_state=seed), {"C": CS}),
        "logistic regression, grid of 5 C": GridSearchCV(
            LogisticRegression(max_iter=100), {"C": 4.0 ** np.arange(-1, 4)}
        ),
        "SGD, grid of 6 penalties": GridSearchCV(sgd, {"alpha": 10.0 ** np.arange(-7, -1)}),
        "naive Bayes, grid of 5": GridSearchCV(ComplementNB(), {"alpha": 10.0 ** np.arange(-3, 2)}),
    }


def measure():
    """Return accuracies in percent and CPU seconds of every method, one for each split."""
    from sklearn.model_selection import train_test_split

    import isrht
    from isrht.files import read_rows

    X, y, _ = read_rows(Path(os.environ["ISRHT_DATA"]) / "rcv1sub.binary.xz")
    results = {}
    for seed in SPLITS:
        X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.3, stratify=y, random_state=seed)
        for name, model in methods(seed).items():
            started = time.process_time()
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # LinearSVC and logistic regression stop early at large C, and say so
                model.fit(X_train, y_train)
            seconds = time.process_time() - started
            result = results.setdefault(name, {"seconds": [], "accuracy": []})
            result["seconds"].append(round(seconds, 3))
            result["accuracy"].append(round(100 * model.score(X_test, y_test), 3))
            print(f"split {seed}, {name}: {seconds:.2f} s, {result['accuracy'][-1]:.2f} %", flush=True)
    return {
        "isrht": isrht.__version__,
        "machine": platform.machine(),
        "python": platform.python_version(),
        "results": results,
    }


def place_of(name):
    """Return where the name of a method stands beside its point, so that names do not overlap."""
    below = ("LinearSVMCV", "logistic", "naive")
    across = {"LinearSVMCV": "right", "SGD": "left", "logistic": "left", "LinearSVC,": "left"}
    side = next((side for part, side in across.items() if part in name), "center")
    return {
        "xytext": ({"right": 30, "left": -8}.get(side, 0), -19 if any(part in name for part in below) else 11),
        "textcoords": "offset points",
        "ha": side,
    }


def draw(record):
    """Write the picture: a point for every method, the mean over splits."""
    matplotlib.rcParams.update({"svg.hashsalt": "isrht", "svg.fonttype": "path"})  # the same file from the same numbers
    plt.style.use(str(HERE.parent / "_static" / "gallery.mplstyle"))
    figure, axis = plt.subplots(figsize=(7.2, 3.6))
    for name, result in record["results"].items():
        seconds, accuracy = np.mean(result["seconds"]), np.mean(result["accuracy"])
        ours = name.startswith("isrht")
        axis.plot(seconds, accuracy, "*" if ours else "o", color="C1" if ours else "C6", markersize=15 if ours else 7)
        axis.annotate(name, (seconds, accuracy), fontsize=9, fontweight="bold" if ours else "normal", **place_of(name))
    axis.set_xscale("log")
    axis.set(xlabel="CPU seconds from words to a tuned model", ylabel="test accuracy, %")
    axis.set_xticks([0.1, 1, 10, 100], ["0.1", "1", "10", "100"])
    axis.set_title("23,749 newswire documents, 47,236 words: to the upper left is better")
    axis.margins(x=0.3, y=0.22)
    figure.savefig(PICTURE, metadata={"Date": None})


if __name__ == "__main__":
    run(__doc__, RECORD, measure, draw)
