"""Pictures of fitted models, drawn by matplotlib in the manner of scikit-learn's displays.

A display is made from a fitted model, ``HeldOutScoresDisplay.from_estimator(model)``, holds the numbers that it shows,
and draws them on axes of the user's or its own; afterwards it has ``ax_`` and ``figure_``. matplotlib, which the extra
``plot`` brings, is imported when something is drawn.

The room uses ``models``, ``boosting``, ``linear`` and ``projections``; only users use it.
"""

from isrht.plot.column_scores import ColumnScoresDisplay
from isrht.plot.held_out_scores import HeldOutScoresDisplay
from isrht.plot.reliability import ReliabilityDisplay
from isrht.plot.telling_features import TellingFeaturesDisplay

__all__ = ["ColumnScoresDisplay", "HeldOutScoresDisplay", "ReliabilityDisplay", "TellingFeaturesDisplay"]
