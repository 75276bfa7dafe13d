"""The reference of public names: which page shows which name, from ``__all__`` of the package and its public modules.

Every build writes ``reference/api.rst`` anew, with a table for every group below. A name that no group mentions comes
under "Further names", so whatever becomes public is in the reference by itself.
"""

from __future__ import annotations

import importlib
from types import ModuleType

# The modules whose names are public, beside the package itself.
MODULES = (
    "isrht.files",
    "isrht.models",
    "isrht.export",
    "isrht.datasets",
    "isrht.transform",
    "isrht.plot",
    "isrht.scoring",
)

GROUPS = {
    "Classifiers": ("ISRHTClassifier", "LinearSVM", "LinearSVMCV"),
    "Projections": (
        "ISRHT", "BoostedISRHT", "SparseEmbedding", "LeverageScoreSelection", "HadamardFourierFeatures",
        "HadamardRotation", "make_projection",
    ),
    "The transform": ("fwht", "ifwht", "fwhtn", "ifwhtn", "next_fast_len", "hadamard_matrix"),
    "Models that outlive a fit": ("save", "load", "Predictor"),
    "Rows that are elsewhere": ("RowSource",),
}  # fmt: skip


def public_names():
    """Return a dictionary of titles to full names, in which every public name occurs once."""
    import isrht

    names = [name for name in isrht.__all__ if not isinstance(getattr(isrht, name), ModuleType)]
    grouped = {title: [f"isrht.{name}" for name in group if name in names] for title, group in GROUPS.items()}
    known = {name for group in grouped.values() for name in group}
    grouped["Further names"] = [f"isrht.{name}" for name in names if f"isrht.{name}" not in known]
    shown = {id(getattr(isrht, name)) for name in names}
    for module_name in MODULES:
        grouped[module_name] = [full for full, thing in names_of(module_name) if id(thing) not in shown]
    return {title: group for title, group in grouped.items() if group}


def names_of(module_name):
    """Return ``(full name, object)`` of what ``__all__`` of a module lists, or nothing if there is no such module."""
    try:
        module = importlib.import_module(module_name)
    except ModuleNotFoundError as error:
        if error.name != module_name:
            raise
        return []
    return [(f"{module_name}.{name}", getattr(module, name)) for name in module.__all__]


def first_paragraph(module_name):
    return importlib.import_module(module_name).__doc__.split("\n\n")[0]


def reference_text():
    """Return the whole reference as reStructuredText, which autosummary understands."""
    lines = []
    for title, names in public_names().items():
        lines += [title, "-" * len(title), ""]
        if title in MODULES:
            lines += [first_paragraph(title), ""]
        lines += [".. autosummary::", "   :toctree: generated", "   :nosignatures:", ""]
        lines += [f"   {name}" for name in names] + [""]
    return "\n".join(lines)


def write_reference(app):
    """Write the page before Sphinx reads any: autosummary makes a page for every name that it finds in a file."""
    text = "Public names\n============\n\n" + INTRODUCTION + "\n\n" + reference_text()
    path = app.srcdir / "reference" / "api.rst"
    if not path.exists() or path.read_text() != text:
        path.write_text(text)


INTRODUCTION = """Everything that is public, with every parameter. Estimators also have what scikit-learn gives all of
its own: ``get_params``, ``set_params``, ``set_output``, metadata routing, and ``score``. Names that begin with an
underscore, and
modules that are not listed here, may change without notice."""


def setup(app):
    write_reference(app)  # at once: autosummary looks for names in the files that are there when Sphinx starts
    return {"parallel_read_safe": True}
