"""Improved subsampled randomized Hadamard transforms for linear classification.

The data flow, and the rooms in which it happens::

    load -> scale -> rotate    -> measure, score, select -> project   -> classify             -> report
    files   rows     transform    projections, boosting     transform    linear, classifier      report

The public names are listed in ``__init__.pyi``, once for editors and for the package itself, which imports each of them
when it is first used (SPEC 1): the command line's ``--help`` does not wait for scikit-learn.
"""

import lazy_loader

__version__ = "0.1.0"

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
