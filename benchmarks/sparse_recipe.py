"""Boosted columns before models that take no sparse rows, or are slow with them: gradient-boosted trees and neighbours.

``ISRHT_DATA=... python -m benchmarks.sparse_recipe rcv1sub.binary`` prints a table, as Markdown: accuracy on 30 % of
the rows, and seconds of the processor to fit and to predict, in one thread. ``HistGradientBoostingClassifier`` refuses
sparse rows, so it is given 16 boosted columns, or 16 or 128 of a truncated SVD, or the 500 features that are most
telling by a chi-squared test, made dense. Neighbours take sparse rows as they are, too.
"""

import argparse
import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
os.environ.setdefault("OMP_NUM_THREADS", "1")

import time

from sklearn.decomposition import TruncatedSVD
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.feature_selection import SelectKBest, chi2
from sklearn.model_selection import train_test_split
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

from isrht import BoostedISRHT, ISRHTClassifier
from isrht.datasets import load


def methods():
    def trees():
        return HistGradientBoostingClassifier(random_state=0)

    def neighbours():
        return KNeighborsClassifier(15)

    yield "ISRHTClassifier()", ISRHTClassifier(random_state=0)
    yield "16 boosted columns, trees", make_pipeline(BoostedISRHT(16, random_state=0), trees())
    for size in (16, 128):
        yield f"SVD to {size}, trees", make_pipeline(TruncatedSVD(size, random_state=0), trees())
    dense = FunctionTransformer(lambda X: X.toarray(), accept_sparse=True)
    yield "500 features by chi-squared, trees", make_pipeline(SelectKBest(chi2, k=500), dense, trees())
    yield "16 boosted columns, 15 neighbours", make_pipeline(BoostedISRHT(16, random_state=0), neighbours())
    yield "SVD to 128, 15 neighbours", make_pipeline(TruncatedSVD(128, random_state=0), neighbours())
    yield "sparse rows as they are, 15 neighbours", neighbours()


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("set")
    parser.add_argument("--rows", type=int)
    args = parser.parse_args()
    data = load(args.set)
    X, X_test, y, y_test = train_test_split(data.X, data.y, test_size=0.3, stratify=data.y, random_state=0)
    if args.rows:
        X, y, X_test, y_test = X[: args.rows], y[: args.rows], X_test[: args.rows], y_test[: args.rows]
    print(f"{args.set}: {X.shape[0]:,} x {X.shape[1]:,}\n")
    print("| method | accuracy, % | fit, s | predict, s |\n|---|---|---|---|")
    for name, model in methods():
        start = time.process_time()
        model.fit(X, y)
        fitted = time.process_time()
        score = model.score(X_test, y_test)
        done = time.process_time()
        print(f"| {name} | {100 * score:.2f} | {fitted - start:.2f} | {done - fitted:.2f} |", flush=True)


if __name__ == "__main__":
    main()
