"""Texts of strangers made harmless, so that they can be shown on a terminal.

A label, the name of a feature, or what a model tells about itself may hold codes that a terminal obeys. Whatever is
printed goes through here.
"""

from __future__ import annotations

import re

# Control characters, characters that end lines or turn the direction of writing, and halves of surrogate pairs, which
# are no text.
OBEYED = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff]")


def visible(text):
    r"""Return a text in one line that a terminal shows and does not obey: control characters are escaped.

    >>> print(visible("\x1b[31mred\nnaïve"))
    \x1b[31mred\nnaïve
    """
    return OBEYED.sub(lambda found: found[0].encode("unicode_escape").decode("ascii"), text)


def visible_lines(text):
    """Return a text of several lines, each of them as :func:`visible` makes it."""
    return "\n".join(map(visible, text.split("\n")))
