"""Improved subsampled randomized Hadamard transforms for linear classification.

The data flow, and the module of each step::

    load -> scale -> rotate -> measure -> score -> select -> project -> classify -> report
"""

from isrht.hadamard import fwht

__version__ = "0.1.0"

__all__ = ["fwht"]
