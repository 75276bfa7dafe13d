"""What all displays have in common: they draw on axes that they are given, or on new ones, and keep these."""

from __future__ import annotations

from typing import Any, Self


class Display:
    """A picture of numbers that it holds. A display says in ``_draw`` how it draws them.

    Attributes
    ----------
    ax_ : matplotlib Axes
    figure_ : matplotlib Figure
    """

    def plot(self, ax: Any = None) -> Self:
        """Draw the numbers of the display.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Where to draw; None makes a new figure.

        Returns
        -------
        Self
            The display, which has ``ax_`` and ``figure_`` now.
        """
        self.ax_ = _new_axes() if ax is None else ax
        self.figure_ = self.ax_.figure
        self._draw(self.ax_)
        self.ax_.legend()
        return self

    def _draw(self, ax):
        raise NotImplementedError


def _new_axes():
    try:
        import matplotlib.pyplot as plt
    except ImportError as error:
        raise ModuleNotFoundError("matplotlib is missing: pip install 'isrht[plot]'", name="matplotlib") from error
    return plt.subplots()[1]


def last_step(model):
    """Return the last step of a pipeline, or the model itself."""
    return model[-1] if hasattr(model, "steps") else model
