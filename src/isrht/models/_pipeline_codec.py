"""What a model file keeps of scikit-learn's :class:`~sklearn.pipeline.Pipeline`: its steps, each by its own codec.

The steps must follow each other as a pipeline needs it: all but the last one transform, and each gives as many features
as the next one takes.
"""

from __future__ import annotations

from itertools import pairwise

from sklearn.base import BaseEstimator
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted

from isrht.support.codec import Codec, demand


def fields(model):
    """Return the steps by number, because no member of a file can have some of the names that steps may have."""
    for name, step in model.steps:
        if isinstance(step, Pipeline):
            raise TypeError(f"cannot save step {name!r}: a model file holds no Pipeline inside of a Pipeline")
        if isinstance(step, BaseEstimator):
            check_is_fitted(step)
    steps = {f"step{number}": step for number, (_, step) in enumerate(model.steps)}
    return {"names": [name for name, _ in model.steps]} | steps


def restore(model, stored):
    """Make a fitted pipeline of stored fields."""
    names = stored.value("names", list)
    are_names = names and all(isinstance(name, str) and "__" not in name for name in names)
    demand(are_names and len(set(names)) == len(names), f"names={names!r} are no different names of steps")
    model.steps = [(name, restored_step(stored, f"step{number}")) for number, name in enumerate(names)]
    check_chain([step for _, step in model.steps if isinstance(step, BaseEstimator)])
    demand(model.memory is None, "a file may not say where results are to be cached")


def restored_step(stored, name):
    """Return an estimator, or what stands for a step that does nothing: ``"passthrough"`` or None."""
    if stored.has_part(name):
        step = stored.part(name)
        demand(not isinstance(step, Pipeline), f"{name} is a Pipeline inside of a Pipeline")
        return step
    if stored.has(name):
        word = stored.value(name, str)
        demand(word == "passthrough", f"{name} is {word!r}, which is no step")
        return word
    return None


def check_chain(steps):
    """Demand that every step but the last transforms, and gives as many features as the next one takes."""
    for step, following in pairwise(steps):
        name = type(step).__name__
        demand(hasattr(step, "transform"), f"{name} is not the last step, but has no transform")
        width = n_features_out(step)
        fits = width == following.n_features_in_
        demand(fits, f"{name} gives {width} features, but {type(following).__name__} takes {following.n_features_in_}")


def n_features_out(step):
    """Return the width of what a fitted transformer gives, which may be a selector, a projection or a scaler."""
    if hasattr(step, "get_support"):
        return int(step.get_support().sum())
    return getattr(step, "_n_features_out", step.n_features_in_)  # scikit-learn's convention for projections


CODEC = Codec(Pipeline, fields, restore, made_of="steps", never_stored=("memory",))
