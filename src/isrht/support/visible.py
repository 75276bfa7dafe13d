"""Texts of strangers, as they may be shown.

A label, the name of a feature, or what a model tells about itself may hold codes that a terminal obeys. Whatever is
printed goes through here.
"""

from __future__ import annotations

import re

# Control characters, those that end lines or turn the direction of writing, and halves of pairs, which are no text.
OBEYED = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff]")


def visible(text):
    r"""A text in one line that a terminal shows and does not obey: control characters are escaped.

    >>> print(visible("\x1b[31mred\nnaïve"))
    \x1b[31mred\nnaïve
    """
    return OBEYED.sub(lambda found: found[0].encode("unicode_escape").decode("ascii"), text)


def visible_lines(text):
    """The same of every line of a text."""
    return "\n".join(map(visible, text.split("\n")))
