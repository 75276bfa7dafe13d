"""The protocol of workers, done by Spark: a call for every piece is one job, and what is kept are cached RDDs.

An RDD has one element for each piece. Where a function needs several of them they are zipped, the rows last: each zip
sends what it zips through one more process of Python, and labels, folds and weights are small beside rows. What a lost
executor had Spark computes again.
"""

from __future__ import annotations

import re
import sys
import weakref
import zipimport
from collections import deque
from functools import partial

from isrht.rows.workers.protocol import Workers

# An error on an executor ends with a traceback, whose last line says what was raised: "ValueError: block 3: ...".
RAISED = re.compile(r"^(?:\w+\.)*(ValueError|TypeError|OSError|MemoryError): (block \d+: .*)", re.MULTILINE)
KINDS = {"ValueError": ValueError, "TypeError": TypeError, "OSError": OSError, "MemoryError": MemoryError}


class SparkWorkers(Workers):
    """The executors of Spark.

    Parameters
    ----------
    context : pyspark.SparkContext
    n_partitions : int
        Each partition is a block, and a piece of its own.
    """

    def __init__(self, context, n_partitions):
        super().__init__([[number] for number in range(n_partitions)])
        self.context, self._forgotten = context, deque()

    def spread(self, values):
        """Send an object of its own to every piece."""
        return Cached(self.context.parallelize(list(values), len(values)))

    def keep(self, what, function, *kept):
        """Call a function for every piece, and cache the results."""
        made = self.cached(self._called(what, function, kept))
        self._now(made.rdd.count)  # so that an error comes here, and not in the middle of a later pass
        return made

    def cached(self, rdd):
        """Return what is kept of an RDD, which the executors cache until nothing refers to it any more."""
        made = Cached(rdd.persist())
        # Not unpersisted at once, because Python may collect garbage in the midst of a talk with the JVM.
        weakref.finalize(made, self._forgotten.append, rdd).atexit = False
        return made

    def gather(self, what, function, *kept):
        """Call a function for every piece, and return the results."""
        return self._now(self._called(what, function, kept).collect)

    def _called(self, what, function, kept):
        """Return the RDD of what a function makes of every piece, which no executor has computed yet."""
        while self._forgotten:
            self._forgotten.pop().unpersist()
        self.context.setJobDescription(f"isrht: {what}")
        present = [one.rdd for one in kept if one is not None]
        together = present[-1].map(_alone)
        for one in reversed(present[:-1]):
            together = together.zip(one).map(_in_front)
        return together.map(partial(_call, function, [one is not None for one in kept]))

    @staticmethod
    def _now(job):
        """Run a job; of an error that names a block only that is raised, without the traceback of the executor."""
        try:
            return job()
        except Exception as error:
            found = RAISED.findall(str(error))
            if not found:
                raise
            kind, message = found[-1]
            raise KINDS[kind](message) from error


class Cached:
    """What is kept of all pieces: an RDD that has one element for each of them."""

    def __init__(self, rdd):
        self.rdd = rdd


# What follows runs on the executors.


def _alone(value):
    _speed_up()
    return (value,)


def _in_front(pair):
    _speed_up()
    others, one = pair
    return (one, *others)


def _call(function, present, values):
    _speed_up()
    values = iter(values)
    return function(*(next(values) if here else None for here in present))


def _speed_up():
    """Let this process forget what finds modules in archives, which Python makes anew when it looks for a module.

    Before every task a worker of Spark makes all finders of modules look again, and that of ``pyspark.zip`` then reads
    the list of its thousand files, for a tenth of a second: longer than most tasks of a fit take.
    """
    for path, finder in list(sys.path_importer_cache.items()):
        if isinstance(finder, zipimport.zipimporter):
            del sys.path_importer_cache[path]
