"""Numbers of a report as short texts: bytes in a unit in which they are short, seconds with the digits that count."""

from __future__ import annotations


def bytes_text(count):
    """Return a number of bytes in a unit in which it is short."""
    for size, unit in ((1e9, "GB"), (1e6, "MB"), (1e3, "kB")):
        if count >= size:
            return f"{count / size:.3g} {unit}"
    return f"{count:.0f} B"


def seconds_text(seconds):
    """Return seconds with four decimals where there are few of them, and two otherwise."""
    return f"{seconds:.4f}" if seconds < 0.1 else f"{seconds:.2f}"
