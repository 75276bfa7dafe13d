"""Train on all rows while larger Cs are still being tried, if there is a thread for it.

The folds go from the smallest C to the largest, and no C needs the scores of the one before. So one thread goes on with
the path while another scores what it has found. When the scores of the folds begin to fall, the best C so far mostly
remains the best: the model that is kept is trained for it at once. Should a larger C turn out better after all, that
model is thrown away. What is computed is the same in any number of threads; only when it is computed differs.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

from isrht.support.threads import read_ahead


class EarlyRefit:
    """The training on all rows, in a thread of its own if there may be several.

    Parameters
    ----------
    solve : callable
        Given a C and where to begin, it returns the solution of all rows.
    n_jobs : int
        How many threads there may be. One thread does everything in turn.
    """

    def __init__(self, solve, n_jobs):
        self.solve = solve
        self.pool = ThreadPoolExecutor(1) if n_jobs > 1 else None
        self.begun = {}

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.pool is not None:
            self.pool.shutdown(cancel_futures=True)

    def beside(self, path):
        """Yield what a path yields, while a thread goes on to the next C."""
        return path if self.pool is None else read_ahead(path, 1)

    def begin(self, C, start):
        """Begin to train for a C that is likely to be the best one."""
        if self.pool is not None and C not in self.begun:
            self.begun[C] = self.pool.submit(self.solve, C, start)

    def solution(self, C, start):
        """Return the solution for a C, for which training may have begun."""
        begun = self.begun.get(C)
        return self.solve(C, start) if begun is None or begun.cancelled() else begun.result()
