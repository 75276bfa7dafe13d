"""Where a display draws: on axes that it is given, or on new ones."""

from __future__ import annotations


def axes_for(display, ax=None):
    """Return the axes to draw on, and let the display keep them and their figure."""
    if ax is None:
        try:
            import matplotlib.pyplot as plt
        except ImportError as error:
            raise ModuleNotFoundError("matplotlib is missing: pip install 'isrht[plot]'", name="matplotlib") from error
        _, ax = plt.subplots()
    display.ax_, display.figure_ = ax, ax.figure
    return ax


def last_step(model):
    """Return the last step of a pipeline, or the model itself."""
    return model[-1] if hasattr(model, "steps") else model
