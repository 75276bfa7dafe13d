"""The values of C that are tried where none are given: the paper's eleven, from 2**-5 to 2**5.

They have a module of their own, without imports, so that plans and pages can name them before scikit-learn is loaded.
"""

from __future__ import annotations

DEFAULT_CS = tuple(2.0**exponent for exponent in range(-5, 6))
