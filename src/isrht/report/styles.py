"""The look of each method in all figures: a method has a colour, and its variants have dashes and hollow points."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Style:
    """The colour and marker of points, the dashes of the line between them, and how the markers are filled."""

    color: str
    marker: str = "circle"
    dash: str = ""
    fill: str = "full"


BASES = {
    "All features": Style("var(--ink)", "square"),
    "PCA": Style("var(--c-gray)", "diamond"),
    "DLSS": Style("var(--c-brown)", "triangle"),
    "Gaussian": Style("var(--c-cyan)", "square"),
    "Achlioptas": Style("var(--c-blue)", "diamond"),
    "Sparse Embedding": Style("var(--c-teal)", "triangle"),
    "SRHT": Style("var(--c-violet)", "circle"),
    "ISRHT-nps": Style("var(--c-olive)", "square"),
    "ISRHT-top-r": Style("var(--c-green)", "diamond"),
    "ISRHT-supervised": Style("var(--c-orange)", "circle"),
    "Boosted ISRHT": Style("var(--c-red)", "cross"),
}
VARIANTS = {"sketch 2r": ("5 3", "hollow"), "sketch 8192": ("2 3", "pale"), "authors' code": ("7 2 2 2", "hollow")}


# The colours of the light page, for drawings that know no variables of CSS.
PLAIN = {
    "ink": "#1c1d20", "c-gray": "#6b6e76", "c-brown": "#8a5a35", "c-cyan": "#08788f", "c-blue": "#2f5fd0",
    "c-teal": "#0f7a65", "c-violet": "#7b46c9", "c-olive": "#7a7500", "c-green": "#2b8a3e", "c-orange": "#c25700",
    "c-red": "#d1123f",
}  # fmt: skip


def plain_color(color):
    """Return a colour of the light page, given as a variable: ``var(--c-red)``."""
    return PLAIN[color.removeprefix("var(--").removesuffix(")")]


def style_of(method):
    """Return the style of a method by its name; a variant looks like its base, but dashed and hollow."""
    base, _, variant = method.partition(", ")
    style = BASES.get(base, Style("var(--ink)"))
    return Style(style.color, style.marker, *VARIANTS.get(variant, ()))
