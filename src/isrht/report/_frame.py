"""The frame of every page: one HTML file with its style, which needs no network."""

from __future__ import annotations

from html import escape
from importlib.resources import files


def framed(title, header, main, after=""):
    """Return a whole page as text.

    Parameters
    ----------
    title : str
        The title, which is also the heading of the page; its signs are escaped here.
    header, main, after : str
        HTML: what follows the heading, what the page is about, and what comes behind, such as scripts.
    """
    return FRAME.format(css=style_file("page.css"), title=escape(title), header=header, main=main, after=after)


def style_file(name):
    """Return the text of a file that lies beside this one, such as a style or a script."""
    return files("isrht.report").joinpath(name).read_text(encoding="utf-8")


FRAME = """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title} · isrht</title>
<link rel="icon" href="data:,">
<style>
{css}</style>
</head>
<body>
<header>
<h1>{title}</h1>
{header}
</header>
<main>
{main}
</main>
{after}</body>
</html>
"""
