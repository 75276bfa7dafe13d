"""Partitions as recipes: the graph that loads a partition goes to a worker, which loads one partition after the other.

If Dask loaded the partitions itself, each would be a task of its own in every pass, and all partitions of a piece would
be in memory before the piece is worked on. A recipe is what Dask would do, as data. That needs partitions that share no
work with each other: what a shuffle makes is left to Dask, and so are partitions that are in the memory of workers
already.
"""

from __future__ import annotations

import io

import cloudpickle
import dask
from dask.optimization import cull


class Recipe:
    """How one partition is loaded."""

    def __init__(self, graph, key):
        self.graph, self.key = graph, key

    def load(self):
        """Return the partition."""
        return dask.get(self.graph, self.key)

    def packed(self):
        """Return the recipe as bytes, or raise :class:`HasFutures`: what workers have in memory is no recipe."""
        stream = io.BytesIO()
        _Pickler(stream, protocol=5).dump((self.graph, self.key))
        return PackedRecipe(stream.getvalue())


class PackedRecipe:
    """A recipe as bytes, which no scheduler looks into."""

    def __init__(self, packed):
        self._packed = packed

    def load(self):
        """Return the partition."""
        return Recipe(*cloudpickle.loads(self._packed)).load()


class HasFutures(Exception):
    """Something is in the memory of workers."""


class _Pickler(cloudpickle.Pickler):
    def reducer_override(self, obj):
        if _is_future(obj):
            raise HasFutures
        return super().reducer_override(obj)


def _is_future(thing):
    return type(thing).__module__ == "distributed.client" and type(thing).__name__ == "Future"


def future_of(part):
    """Return a future that a delayed partition is made of, or None if there is none."""
    own = cull(dict(part.__dask_graph__()), [part.key])[0]
    return next((node for node in own.values() if _is_future(node)), None)


def recipes(parts, to_be_sent):
    """Return a recipe for each delayed partition, or None where Dask must load them.

    Parameters
    ----------
    parts : list of delayed objects
    to_be_sent : bool
        Whether recipes go to other processes.

    Raises
    ------
    HasFutures
        If partitions are in the memory of workers.
    """
    graphs, owner, found = {}, {}, []
    for number, part in enumerate(parts):
        graph = part.__dask_graph__()
        if id(graph) not in graphs:
            graphs[id(graph)] = graph, dict(graph)
        own = cull(graphs[id(graph)][1], [part.key])[0]
        for key, node in own.items():
            if owner.setdefault(key, number) != number and _is_work(node):
                return None
        recipe = Recipe(own, part.key)
        found.append(recipe.packed() if to_be_sent else recipe)
    return found


def _is_work(node):
    """Say whether a node of a graph is computed, so that it would be computed twice if two recipes had it."""
    return hasattr(node, "func") or dask.core.istask(node)


def loaded(number, what):
    """Return a partition, which is there already or is a recipe; an error says which one could not be loaded."""
    if not isinstance(what, Recipe | PackedRecipe):
        return what
    try:
        return what.load()
    except MemoryError:
        raise
    except Exception as error:
        kind = OSError if isinstance(error, OSError) else ValueError
        raise kind(f"block {number}: {type(error).__name__}: {error}") from error
