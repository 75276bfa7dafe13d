"""
Accuracy against the seconds to a tuned model
=============================================

From a matrix of words to a classifier whose parameters have been chosen by cross-validation: how long does it take, and
how good is it? Boosted columns beside what one would pick instead. Every method chooses its own parameters on the
training texts; the test texts only judge.
"""

import importlib
import inspect
import time
import warnings

import matplotlib.pyplot as plt
import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression, RidgeClassifier, SGDClassifier
from sklearn.model_selection import GridSearchCV, train_test_split
from sklearn.naive_bayes import ComplementNB
from sklearn.svm import LinearSVC
from threadpoolctl import threadpool_limits

from isrht import ISRHTClassifier


# %%
# Paragraphs of docstrings, each of them once; words and pairs of words. It is text that needs no download.
def paragraphs(package, modules):
    for module_name in modules:
        module = importlib.import_module(f"{package}.{module_name}")
        for name in module.__all__:
            for paragraph in (inspect.getdoc(vars(module).get(name)) or "").split("\n\n"):
                if len(paragraph.split()) >= 15 and ">>>" not in paragraph:
                    yield paragraph


from_scipy = list(
    dict.fromkeys(paragraphs("scipy", ["signal", "optimize", "stats", "interpolate", "sparse", "linalg"]))
)
from_sklearn = list(
    dict.fromkeys(paragraphs("sklearn", ["cluster", "ensemble", "linear_model", "metrics", "preprocessing", "svm"]))
)
texts = from_scipy + from_sklearn
labels = np.repeat([0, 1], [len(from_scipy), len(from_sklearn)])
train, test, y_train, y_test = train_test_split(texts, labels, test_size=0.3, random_state=0, stratify=labels)
vectorizer = TfidfVectorizer(sublinear_tf=True, ngram_range=(1, 2))
X_train, X_test = vectorizer.fit_transform(train), vectorizer.transform(test)
print(f"{X_train.shape[0]:,} training texts, {X_train.shape[1]:,} features")

# %%
# The peers, each with a grid of its one parameter that matters, 5 folds. All of them have one thread: on a busy machine
# threads of linear algebra that wait for each other would cost some of them far more than they gain.
penalties = 2.0 ** np.arange(-5, 6)
candidates = {
    "boosted columns": ISRHTClassifier(random_state=0),
    "LinearSVC, 11 C": GridSearchCV(LinearSVC(), {"C": penalties}),
    "logistic regression, 3 C": GridSearchCV(LogisticRegression(max_iter=50), {"C": [1, 8, 64]}),
    "ridge, 5 penalties": GridSearchCV(RidgeClassifier(), {"alpha": 4.0 ** np.arange(-3, 2)}),
    "SGD (hinge), 6 penalties": GridSearchCV(
        SGDClassifier(average=True, random_state=0), {"alpha": 10.0 ** np.arange(-7, -1)}
    ),
    "naive Bayes, 5 smoothings": GridSearchCV(ComplementNB(), {"alpha": 10.0 ** np.arange(-3, 2)}),
}

results = {}
for name, model in candidates.items():
    started = time.perf_counter()
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # LinearSVC with a large C stops before its minimum
        model.fit(X_train, y_train)
    results[name] = time.perf_counter() - started, 100 * model.score(X_test, y_test)
    print(f"{name:>26}: {results[name][0]:6.2f} s, {results[name][1]:.2f} %")

# %%
figure, axis = plt.subplots()
for name, (seconds, accuracy) in results.items():
    ours = name == "boosted columns"
    axis.plot(seconds, accuracy, "*" if ours else "o", markersize=16 if ours else 8)
    above = list(results).index(name) % 2 == 0
    place = {"xytext": (0, 11 if above else -19), "textcoords": "offset points", "ha": "center"}
    axis.annotate(name, (seconds, accuracy), fontsize=9, **place)
axis.set_xscale("log")
axis.set(xlabel="seconds to a tuned model (one thread)", ylabel="test accuracy, %")
axis.set_title("To the upper left is better")
axis.margins(x=0.3, y=0.2)

# %%
# How sure is the difference between two points? With some two thousand test texts at about 98 %, differences of half a
# point are chance. What is left is the time: boosting tunes itself in one fit. On short texts naive Bayes is quick and
# good, as here; where words lean on each other, on images, or with few telling features among many, it is not.
print(f"standard error of one accuracy: {100 * np.sqrt(0.98 * 0.02 / len(y_test)):.2f} points")
