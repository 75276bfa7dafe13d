"""How much a file may ask for before it is taken for damaged: a wrong index or a small archive that unpacks to much."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Integral

# Archives may unpack to this many times their size, and small ones to a gigabyte in any case.
RATIO, FLOOR = 200, 2**30


@dataclass(frozen=True)
class Limits:
    """The most that :func:`~isrht.files.open_rows` takes from a file; more is an error.

    Parameters
    ----------
    features : int, default=2**28
        How many features LIBSVM text and sparse NPZ may have if ``n_features`` is not given. One number for each of
        2**28 features takes 2 GiB.
    unpacked_bytes : int or None, default=None
        How many bytes an archive may unpack to; None allows 200 times its size, and 1 GiB in any case.

    Examples
    --------
    >>> from isrht.files import Limits
    >>> Limits(features=2**31)
    Limits(features=2147483648, unpacked_bytes=None)
    """

    features: int = 2**28
    unpacked_bytes: int | None = None

    def __post_init__(self) -> None:
        """Refuse what is no number of features or of bytes."""
        check_whole_number("features of Limits", self.features)
        if self.unpacked_bytes is not None:
            check_whole_number("unpacked_bytes of Limits", self.unpacked_bytes, "or None")

    def unpacked_bytes_of(self, size: int) -> int:
        """Return how many bytes an archive of this size may unpack to."""
        return max(FLOOR, RATIO * size) if self.unpacked_bytes is None else self.unpacked_bytes


def check_whole_number(name, value, otherwise=""):
    """Refuse a value that is not a positive whole number."""
    if isinstance(value, bool) or not isinstance(value, Integral) or value < 1:
        raise ValueError(f"{name} must be a positive whole number{otherwise and ' ' + otherwise}, got {value!r}")
