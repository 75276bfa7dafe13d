"""Sessions: short stories with one part of the package each. :func:`run_session` draws one and plays it."""

from __future__ import annotations

import os
import tempfile
from contextlib import suppress

import numpy as np
from hypothesis import strategies as st

import isrht
from fuzz.blocks import FORMS, ODD_FORMS, ORDINARY_FORMS, WRONG_FORMS, blocks
from fuzz.dense import LAYOUTS, Dense
from fuzz.estimators import estimator_session
from fuzz.matrices import SEEDS, WIDTHS, as_numbers, matrices, mostly, ordinary_matrices
from fuzz.sparse import Sparse
from fuzz.targets import labels, ordinary_labels
from fuzz.watch import Refused
from isrht import RowSource, make_projection
from isrht.files import Limits, open_rows, read_rows, write_rows
from isrht.projections.by_name import PROJECTIONS

LENGTHS = st.sampled_from(
    [1, 2, 4, 8, 16, 32, 64, 64, 128, 1024, 4096, 12, 20, 28, 36, 44, 52, 60, 96, 120, 0, 3, 6, 100]
)
LONGEST_TWIN = 128
WORDS = ("orders", 3, ["ortho"], b"ortho")
EXACT = ("normal", "whole", "zeros")


def fwht_session(draw, watch):
    """Transform arrays of up to four dimensions along any axis, or several."""
    shape = tuple(draw(st.lists(LENGTHS if draw(st.booleans()) else st.sampled_from([1, 2, 3, 8]), max_size=3)))
    shape = shape if np.prod(shape, dtype=float) < 2**16 else shape[:1]
    recipe = Dense(
        shape,
        draw(
            mostly(
                ("f8", "f4", "c16"),
                ("i4", "i8", "f2", "?", "u1", ">f8", ">f4", ">i2", "u4", "u8"),
                ("g", "O", "U", "words", "M8[s]"),
            )
        ),
        draw(mostly(("normal", "whole"), ("zeros", "huge", "subnormal", "spread", "nan", "inf"))),
        draw(st.sampled_from([layout for layout in LAYOUTS if not layout.startswith(("pandas", "polars"))])),
        draw(SEEDS),
    )
    name = draw(st.sampled_from(["fwht", "fwht", "ifwht", "fwhtn", "ifwhtn"]))
    several = name.endswith("n")
    axes = [None, (0,), (0, 1), (-1,), (0, 0), 5, (), "01", 1.5] if several else []
    axis = draw(st.sampled_from(axes or [-1, -1, 0, 1, 2, -2, -3, 5, -7, 1.0, None, "0", np.int8(0), True, 2**70]))
    options = {
        "norm": draw(st.sampled_from([None, None, None, "ortho", "ortho", "forward", "backward", *WORDS])),
        "scale": draw(st.sampled_from([None] * 6 + [0.5, 2, "two", True])),
        "order": draw(st.sampled_from(["natural"] * 4 + ["sequency", "dyadic", "walsh", 3])),
        "overwrite_x": draw(st.integers(0, 3)) == 0,
        "workers": draw(st.sampled_from([None, None, 1, 2, -1, 0, -100, "two", 1.5, 10**6])),
        "check_overflow": draw(st.integers(0, 3)) == 0,
    }
    watch.begin(f"{name}({recipe!r}, {axis!r}, **{options})")
    x = recipe.make()
    original = _as_array(x)
    function = getattr(isrht, name)
    overwrite = options["overwrite_x"]

    def call(given=x):
        try:
            return function(given, axis, **options)
        except OverflowError as error:
            raise ValueError(error) if options["check_overflow"] else error from error

    result = watch.call("fwht", call, *([] if overwrite else [x]))
    watch.demand(result.shape == original.shape, f"the result has shape {result.shape}, not {original.shape}")
    integers = ("int32", "int64", "float64") if original.dtype.kind in "iub" else (original.dtype.name,)
    watch.demand(result.dtype.name in integers, f"the result of {original.dtype} is {result.dtype}")
    if recipe.values in EXACT and not several and original.shape[axis] <= LONGEST_TWIN:
        factor = factor_of(options, original.shape[axis], name == "ifwht")
        compare_with_matrix(watch, result, original, axis, factor, options["order"])


def factor_of(options, length, inverse):
    if options["scale"] is not None:
        return options["scale"]
    norm = options["norm"] or "backward"
    return 1 / np.sqrt(length) if norm == "ortho" else 1 / length if (norm == "forward") != inverse else 1.0


def _as_array(x):
    """Return a copy of what was given, as the array that NumPy makes of it."""
    return np.array(x, subok=False)


def compare_with_matrix(watch, result, original, axis, factor, order):
    matrix = isrht.hadamard_matrix(original.shape[axis])
    if order == "sequency":
        matrix = matrix[np.argsort(np.count_nonzero(np.diff(matrix, axis=1), axis=1))]
    elif order == "dyadic":
        width = len(matrix).bit_length() - 1
        matrix = matrix[[int(f"{j:0{width}b}"[::-1], 2) if width else 0 for j in range(len(matrix))]]
    values = np.moveaxis(original.astype(np.complex128 if original.dtype.kind == "c" else np.float64), axis, -1)
    expected = np.moveaxis(values @ matrix, -1, axis) * factor
    size = np.abs(values).sum(axis=-1, initial=0).max(initial=0) * max(1, abs(factor))
    precision = {2: 2e-3, 4: 1e-5}.get(result.real.dtype.itemsize, 1e-13) if result.dtype.kind in "fc" else 1e-13
    fits = np.abs(expected).max(initial=0) < (6e4 if result.dtype == np.float16 else 2e9)
    for part in (np.real, np.imag) if fits else ():
        watch.demand_close(part(result), part(expected), "fwht", size * precision)


def projection_session(draw, watch):
    """Make one of the paper's projections by its name, and use it on rows that are sound."""
    name = draw(st.sampled_from([*sorted(PROJECTIONS), "srht", None, 3, ["PCA"]]))
    n_components = draw(st.sampled_from([1, 2, 2, 3, 0, -1, 2.5, "auto", None, 10**6, 2**62]))
    random_state = draw(st.sampled_from([0, None, "seed"]))
    watch.begin("make_projection")
    arguments = name, n_components, random_state
    known = isinstance(name, str) and name in PROJECTIONS
    model = watch.call(
        "make_projection", make_projection, *arguments, must="return" if known else "raise", story=str(arguments)
    )
    if not type(model).__module__.startswith("isrht") and (n_components not in (1, 2, 3) or random_state == "seed"):
        return  # the rest is for scikit-learn to say
    recipe = draw(ordinary_matrices(st.just(30), st.sampled_from([3, 8, 20])))
    if not type(model).__module__.startswith("isrht") and isinstance(recipe, Sparse):
        return  # scikit-learn does not take every sparse matrix that we do
    sure = n_components in (1, 2, 3) and random_state != "seed"
    model = watch.call(
        "make_projection.fit",
        model.fit,
        recipe.make(),
        np.arange(30) % 2,
        must="return" if sure else None,
        story=f"({recipe!r})",
    )
    shape = model.transform(recipe.make()).shape
    watch.demand(
        shape == (30, n_components) or (n_components == "auto" and shape[0] == 30), f"transform has shape {shape}"
    )


EXTENSIONS = (
    ".svm",
    ".csv",
    ".tsv",
    ".npy",
    ".parquet",
    ".svm.gz",
    ".csv.bz2",
    ".tsv.xz",
    ".svm.zst",
    ".npz",
    ".npy.gz",
    "",
)


def files_session(draw, watch):
    """Write rows and labels, and read them again: they are what they were."""
    sure = draw(st.booleans())
    rows = st.sampled_from([1, 2, 5, 30])
    recipe = draw(ordinary_matrices(rows, st.integers(1, 12)) if sure else matrices(rows, WIDTHS))
    y = draw(st.none() | (ordinary_labels() if sure else labels()))
    extension = draw(st.sampled_from(EXTENSIONS))
    watch.begin(f"write_rows('rows{extension}', {recipe!r}, {y!r})")
    X, target = recipe.make(), None if y is None else y.make(recipe.n_rows)
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "rows" + extension)
        damaged = getattr(recipe, "damage", None)
        try:
            watch.call("write_rows", write_rows, path, X, target, must="raise" if damaged else None)
        except Refused:
            watch.demand(os.listdir(folder) == [], f"a failed write_rows has left {os.listdir(folder)}")
            raise
        watch.demand(os.listdir(folder) == [os.path.basename(path)], f"write_rows has left {os.listdir(folder)}")
        read_again(draw, watch, path, recipe, y)
        read_oddly(draw, watch, path)


def read_again(draw, watch, path, recipe, y):
    """Read a file that was written, with the one way that gives the same rows."""
    table = not path.endswith((".svm", ".svm.gz", ".svm.zst", "rows"))
    label = {} if y is None or not table else {"label": 0}
    width = {"n_features": recipe.width} if recipe.width else {}
    labelled = y is not None and y.kind != "nothing"
    label = label if labelled else {}
    X, found, facts = watch.call("read_rows", read_rows, path, **width, **label, must="return", story=f"({label})")
    watch.demand(
        X.shape == (recipe.n_rows, recipe.width or X.shape[1]) and facts.n_samples == recipe.n_rows,
        f"read shape {X.shape}",
    )
    watch.demand((found is not None) == labelled, f"labels {found}")
    watch.demand_finite(X, "what was read")
    if recipe.ordinary:
        watch.demand(np.array_equal(as_numbers(X), as_numbers(recipe.make())), "what was read is not what was written")
        if labelled and y.ordinary:
            expected = np.asarray(y.make(recipe.n_rows))
            same = found == (expected.astype(str) if expected.dtype.kind in "UO" else expected.astype(float))
            watch.demand(np.all(same), "labels that were read are not those that were written")


def read_oddly(draw, watch, path):
    """Read a file with options that may not fit it, or damaged."""
    options = draw(
        st.fixed_dictionaries(
            {},
            optional={
                "format": st.sampled_from(["libsvm", "csv", "tsv", "parquet", "npy", "npz", "xml", 3]),
                "n_features": st.sampled_from([1, 3, 100, 2**40, 0, -1, 2.5, "all"]),
                "index_base": st.sampled_from(["auto", 0, 1, 2, "one"]),
                "label": st.sampled_from([0, -1, 1, 99, "label", "x1", "no such", 1.5, None, b"label"]),
                "label_type": st.sampled_from(["number", "text", "word"]),
                "limits": st.sampled_from([Limits(1), Limits(2**62, 10), Limits(2, 10**6), 3]),
            },
        )
    )
    with open(path, "rb") as file:
        content = bytearray(file.read())
    for _ in range(draw(st.integers(0, 2))):
        content[draw(st.integers(0, len(content) - 1))] = draw(st.integers(0, 255))
    with open(path, "wb") as file:
        file.write(content)
    watch.tell(f"{bytes(content)!r}")
    call = draw(
        st.sampled_from([read_rows, lambda *args, **kwargs: sum(X.shape[0] for X, _ in open_rows(*args, **kwargs))])
    )
    entry = "read_rows" if call is read_rows else "open_rows"
    watch.call(entry, call, path, **options, story=f"(**{options})")


def source_session(draw, watch):
    """Ask a RowSource what it is made of."""
    recipe = draw(blocks(WIDTHS, ORDINARY_FORMS * 3 + ODD_FORMS + WRONG_FORMS))
    watch.begin(f"RowSource({recipe!r})")
    given = FORMS[recipe.form](recipe.pairs())
    source = watch.call("RowSource", RowSource, given, must="raise" if recipe.form in WRONG_FORMS else "return")
    must = "raise" if recipe.faulty else "return" if recipe.ordinary else None
    shape = watch.call("RowSource.shape", lambda: source.shape, must=must)
    watch.demand(shape[0] == recipe.n_rows, f"the source has shape {shape}")
    watch.demand(source.sparse in (True, False) and source.dtype.kind == "f", "odd facts")
    found = watch.call("RowSource.labels", lambda: source.labels)
    watch.demand(
        recipe.labels is None or found is None or len(found) >= recipe.n_rows, "there are fewer labels than rows"
    )


SESSIONS = [estimator_session] * 12 + [fwht_session] * 5 + [files_session] * 3 + [source_session, projection_session]


def run_session(draw, watch):
    """Draw a session and play it to its end, or to the first error that is right."""
    with suppress(Refused):
        draw(st.sampled_from(SESSIONS))(draw, watch)
