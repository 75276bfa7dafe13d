"""The protocol of workers, done by Spark: one job for all that is to be made before results can be gathered.

Nothing is done when something is to be kept: its recipe goes with the next job that needs it. Executors keep values in
files (:mod:`~isrht.rows.spark._store`). A job starts from one cached element for each piece, which is little, but Spark
runs a task where its element is cached, and there are the files. A task that does not find a file says so, and the job
is run again with the recipes of everything that it needs, back to the rows: this is how a lost executor is made good.
"""

from __future__ import annotations

import re
import sys
import uuid
import weakref
import zipimport
from collections import deque
from functools import partial
from itertools import count

from isrht.rows.spark._store import PIECE, ROWS, MissingValue, Store
from isrht.rows.workers.protocol import Workers

# An error on an executor ends with a traceback, whose last line says what was raised: "ValueError: block 3: ...".
RAISED = re.compile(r"^(?:\w+\.)*(ValueError|TypeError|OSError|MemoryError): (block \d+: .*)", re.MULTILINE)
KINDS = {"ValueError": ValueError, "TypeError": TypeError, "OSError": OSError, "MemoryError": MemoryError}
# Partitions that have less than this on the average are dealt to as many pieces as the cluster has cores.
SMALL_PARTITION = 2**22
# How often a job is run before the executors are believed to lose values faster than they make them.
ATTEMPTS = 4
# Folders of rows that nobody refers to any more, and the RDDs that stood for them; the next job of others removes them.
ABANDONED: deque = deque()


class SparkWorkers(Workers):
    """The executors of Spark.

    Parameters
    ----------
    blocks : pyspark.RDD
        It has one element for each block: its number first, then what belongs to it. What is kept of a piece is the
        list of its elements, at first as :attr:`rows`.
    """

    def __init__(self, blocks):
        self.context, self.name = blocks.context, f"isrht-{uuid.uuid4().hex}"
        self._forgotten, self._numbers = deque(), count(ROWS + 1)
        self.rows, self._own_piece = Kept(Recipe(ROWS)), Kept(Recipe(PIECE))
        cores = self.context.defaultParallelism
        self._present, found = self._load(blocks)
        if len(found) > cores and sum(size for _, size in found) < SMALL_PARTITION * len(found):
            self._present.unpersist()
            self._present, found = self._load(blocks.coalesce(cores))
        weakref.finalize(self, ABANDONED.append, (self.name, self._present)).atexit = False
        super().__init__([numbers for numbers, _ in found])

    def spread(self, values):
        """Send an object of its own to every piece, with the next job that needs it."""
        return self.keep("values", partial(_own, list(values)), self._own_piece)

    def keep(self, what, function, *kept):
        """Remember to call a function for every piece, and to keep the results there."""
        recipe = Recipe(next(self._numbers), _pickled(function), [one and one.recipe for one in kept])
        made = Kept(recipe, kept)
        # Python may collect garbage in the midst of a talk with the JVM, so files are removed by the next job.
        weakref.finalize(made, _forget, recipe, self._forgotten).atexit = False
        return made

    def gather(self, what, function, *kept):
        """Call a function for every piece, and return the results."""
        wanted = _pickled(function), [one and one.recipe.number for one in kept]
        recipes = _needed([one.recipe for one in kept if one is not None])
        results = self._job(what, wanted, [recipe for recipe in recipes if not recipe.made])
        for _ in range(ATTEMPTS - 1):
            missing = [one for one in results if isinstance(one, MissingValue)]
            if not missing:
                break
            if any(one.args == (ROWS,) for one in missing):
                self._present.unpersist()
                self._present.persist()
            results = self._job(what, wanted, recipes)
        else:
            raise ConnectionError("the executors of Spark lose what they keep faster than they can make it again")
        for one in kept:
            if one is not None:
                one.made()
        return results

    def _load(self, blocks):
        """Let the executors keep their rows; return an RDD that has little for each piece, and what it has."""
        self.context.setJobDescription("isrht: rows")
        present = blocks.mapPartitionsWithIndex(partial(_loaded, self.name)).persist()
        return present, self._now(present.collect)

    def _job(self, what, wanted, recipes):
        """Return what every piece makes of a function and the values that it needs, or which value it does not have."""
        sent = {recipe.number: (recipe.function, recipe.needed, recipe.alive) for recipe in recipes}
        task = partial(_task, self.name, sent, wanted, self._to_be_forgotten(), self._to_be_removed())
        self.context.setJobDescription(f"isrht: {what}")
        return self._now(self._present.mapPartitionsWithIndex(task).collect)

    def _to_be_forgotten(self):
        return [self._forgotten.popleft() for _ in range(len(self._forgotten))]

    def _to_be_removed(self):
        """Return the folders of abandoned rows, and let Spark forget that it had them."""
        abandoned = [ABANDONED.popleft() for _ in range(len(ABANDONED))]
        mine = [(name, present) for name, present in abandoned if present.context is self.context]
        for _, present in mine:
            present.unpersist()
        return [name for name, _ in mine]

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


class Recipe:
    """How a value of every piece is made: a pickled function, and the recipes of what it is given."""

    def __init__(self, number, function=None, sources=()):
        self.number, self.function, self.sources = number, function, sources
        self.needed = [one and one.number for one in sources]
        self.made, self.alive = function is None, True


class Kept:
    """What is kept of all pieces, as long as somebody refers to it; what it is made of is kept until it is made."""

    def __init__(self, recipe, sources=()):
        self.recipe, self._sources = recipe, sources

    def made(self):
        """Remember that executors have it, and what it is made of."""
        self.recipe.made = True
        for one in self._sources:
            if one is not None:
                one.made()
        self._sources = ()


def _forget(recipe, forgotten):
    recipe.alive = False
    forgotten.append(recipe.number)


def _needed(recipes):
    """Return recipes and all that they need, each once."""
    found, waiting = {}, list(recipes)
    while waiting:
        recipe = waiting.pop()
        if recipe.number not in found and recipe.function is not None:
            found[recipe.number] = recipe
            waiting += [one for one in recipe.sources if one is not None]
    return list(found.values())


def _pickled(function):
    """Return a function as bytes, at once, because what it refers to may change before the job."""
    try:
        from pyspark import cloudpickle
    except ModuleNotFoundError:  # rows of something that only behaves as Spark does
        import cloudpickle
    return cloudpickle.dumps(function)


# What follows runs on the executors.


def _loaded(name, piece, blocks):
    """Keep the blocks of a piece; return their numbers, and their bytes, as the one element of its partition."""
    _speed_up()
    blocks = list(blocks)
    return [([block[0] for block in blocks], Store(name, piece).put(ROWS, blocks))]


def _task(name, recipes, wanted, forgotten, abandoned, piece, present):
    """Return one element: what a function makes of the values of a piece, or which of them is missing."""
    _speed_up()
    list(present)  # Spark ends a process of Python that leaves something unread, and has to start another
    store = Store(name, piece, recipes)
    store.forget(forgotten, abandoned)
    try:
        return [store.called(*wanted)]
    except MissingValue as missing:
        return [missing]


def _own(values, piece):
    return values[piece]


def _speed_up():
    """Let this process forget what finds modules in archives, which Python makes anew when it looks for a module.

    Before every task a worker of Spark makes all finders of modules look again, and that of ``pyspark.zip`` then reads
    the list of its thousand files, for a tenth of a second: longer than most tasks of a fit take.
    """
    for path, finder in list(sys.path_importer_cache.items()):
        if isinstance(finder, zipimport.zipimporter):
            del sys.path_importer_cache[path]
