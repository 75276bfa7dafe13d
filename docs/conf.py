"""How the documentation site is built: ``make docs`` calls Sphinx with this file.

The pages are Markdown (MyST) and lie beside this file. What can be generated is generated at every build, so that it
cannot be out of date: the reference of public names and of commands (``_ext``), and the gallery, whose examples are
executed.
"""

from __future__ import annotations

import inspect
import os
import re
import sys
import urllib.request
from pathlib import Path

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE / "_ext"))

import isrht  # noqa: E402 - the version of the site is that of the package that is documented

project = "isrht"
author = "The isrht developers"
copyright = "The isrht developers; BSD-3-Clause"
release = isrht.__version__
version = ".".join(release.split(".")[:2])

extensions = [
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.intersphinx",
    "sphinx.ext.mathjax",
    "sphinx-mathjax-offline",  # formulas are shown without a network, too
    "numpydoc",
    "myst_parser",
    "sphinx_design",
    "sphinx_copybutton",
    "sphinx_gallery.gen_gallery",
    "public_names",
    "commands",
]

source_suffix = {".md": "markdown", ".rst": "restructuredtext"}
templates_path = ["_templates"]
exclude_patterns = ["_build", "_ext", "_templates", "gallery/*.ipynb", "gallery/*.py", "gallery/*.md5"]
nitpicky = False  # types in docstrings are words for people ("array of shape (n,)"), not references
suppress_warnings = [
    "config.cache"
]  # the gallery's settings hold functions, which Sphinx cannot compare between builds

myst_enable_extensions = ["colon_fence", "deflist", "dollarmath", "attrs_inline", "substitution"]
myst_heading_anchors = 4
smartquotes = False  # two hyphens are an option of a command
myst_substitutions = {"version": release}

autosummary_generate = True
autodoc_typehints = "none"  # numpydoc's sections say it in words
autodoc_member_order = "bysource"
numpydoc_show_class_members = False  # the template of a class lists them, each with its own words
numpydoc_class_members_toctree = False
numpydoc_xref_param_type = False
# Every parameter is described, no parameter is described that is not there, and no public object is without a
# docstring.
numpydoc_validation_checks = {"PR01", "PR02", "GL08"}
numpydoc_validation_exclude = {
    r"^sklearn\.",  # what is inherited is not ours
    r"\.(add_note|with_traceback)$",  # of exceptions
    r"\.(Facts|FileError|FileRows|Dataset)$",  # users are given these, and their attributes are described
}

html_theme = "pydata_sphinx_theme"
html_context = {"default_mode": "auto"}  # light or dark as the reader's system is
html_favicon = "_static/favicon.svg"
html_title = "isrht"
html_static_path = ["_static"]
html_css_files = ["isrht.css"]
html_js_files = ["isrht.js"]
html_extra_path = ["versions.json"]
html_sidebars = {"index": [], "start": []}  # pages without pages beside them
html_show_sourcelink = False
html_copy_source = False
html_theme_options = {
    "logo": {"text": "isrht"},
    "navbar_align": "left",
    "navigation_with_keys": False,  # arrow keys scroll wide tables
    "show_toc_level": 2,
    "secondary_sidebar_items": ["page-toc"],
    "footer_start": ["copyright"],
    "footer_end": ["theme-version"],
    "pygments_light_style": "a11y-high-contrast-light",
    "pygments_dark_style": "a11y-high-contrast-dark",
}
# A release that is served tells where: the switcher then offers the versions of docs/versions.json (RELEASING).
if site := os.environ.get("ISRHT_DOCS_URL"):
    html_theme_options["switcher"] = {"json_url": f"{site.rstrip('/')}/versions.json", "version_match": version}
    html_theme_options["check_switcher"] = False  # it is served only after this build
    html_theme_options["navbar_end"] = ["version-switcher", "theme-switcher"]

copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True
copybutton_exclude = ".linenos, .gp, .go"


def reachable(mapping):
    """Return those inventories of other projects that can be had; without a network there are no links to them."""
    found = {}
    for name, address in mapping.items():
        try:
            with urllib.request.urlopen(f"{address}objects.inv", timeout=3) as answer:
                if answer.read(20).startswith(b"# Sphinx inventory"):
                    found[name] = (address, None)
        except OSError:
            continue
    return found


intersphinx_mapping = reachable(
    {
        "python": "https://docs.python.org/3/",
        "numpy": "https://numpy.org/doc/stable/",
        "scipy": "https://docs.scipy.org/doc/scipy/",
        "sklearn": "https://scikit-learn.org/stable/",
    }
)


def reset_figures(_gallery_conf, _name):
    """Give every example the same, plain figures, readable on a light and on a dark page."""
    import matplotlib.pyplot as plt

    plt.style.use(str(HERE / "_static" / "gallery.mplstyle"))


# Beside a page methods are listed without their class, whose name would push theirs out of the column.
toc_object_entries_show_parents = "hide"

sphinx_gallery_conf = {
    "examples_dirs": ["../examples/gallery"],
    "gallery_dirs": ["gallery"],
    "filename_pattern": r"/plot_",
    "within_subsection_order": "FileNameSortKey",
    "reset_modules": ("matplotlib", reset_figures),
    "abort_on_example_error": True,
    "only_warn_on_example_error": False,
    "doc_module": ("isrht",),
    "backreferences_dir": "reference/examples",
    "reference_url": {"isrht": None},
    "show_memory": False,
    "write_computation_times": False,  # a page of tables, which fetches its scripts from another site
    "min_reported_time": 0,
    "remove_config_comments": True,
    "image_srcset": ["2x"],
    "download_all_examples": True,
    "show_signature": False,
    "notebook_images": False,
}


# Methods of scikit-learn's contract, which must be described where an estimator has them.
CONTRACT = ("fit", "partial_fit", "fit_transform", "transform", "inverse_transform", "predict", "predict_proba",
            "predict_log_proba", "decision_function", "score")  # fmt: skip


def for_users(_app, _what, name, member, skip, _options):
    """Leave out what is not for users: methods that only this package calls, and what scikit-learn's base classes
    bring.

    A method is for users if it is in scikit-learn's contract, has no parameters, or describes them. Those of
    scikit-learn's base classes are described on its own site, and link to pages of it.
    """
    function = getattr(member, "fget", member)
    module = getattr(function, "__module__", "") or ""
    if module.startswith(("sklearn.", "builtins")):
        return True
    if inspect.isfunction(member) and name not in CONTRACT and len(inspect.signature(member).parameters) > 1:
        return True if "Parameters\n" not in (inspect.getdoc(member) or "") else skip
    return skip


def escape_learned_names(_app, _what, _name, _thing, _options, lines):
    """Escape the underscore at the end of names such as n_components_, which would be a link in reStructuredText."""
    for number, line in enumerate(lines):
        parts = re.split(r"(`[^`]*`+)", line)
        parts[::2] = [re.sub(r"(?<=[A-Za-z0-9])_(?!\w)", r"\\_", part) for part in parts[::2]]
        lines[number] = "".join(parts)


def setup(app):
    app.connect("autodoc-skip-member", for_users)
    app.connect("autodoc-process-docstring", escape_learned_names, priority=900)  # after numpydoc, which escapes some
