"""How each method looks: one colour per family member, dashes for sketched variants, the same in every figure."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Style:
    color: str
    marker: str = "circle"
    dash: str = ""


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
DASHES = {", sketch 2r": "5 3", ", sketch 8192": "2 3"}


def style_of(method):
    """The style of a method by name; a sketched variant is that of its base, dashed."""
    base, comma, sketch = method.partition(", ")
    style = BASES.get(base, Style("var(--ink)"))
    return Style(style.color, style.marker, DASHES.get(comma + sketch, ""))
