"""The compiled variants: none leaks instructions of a newer processor to the others, and the widest is right."""

import ctypes
import itertools
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from kernel_cases import FLOATS, WIDTHS, choose_columns, dense_case, sparse_case
from numpy.testing import assert_array_equal

from isrht.kernels import _reference

CORE = Path(__file__).parents[2] / "core"
GXX = shutil.which("g++")
# That of macOS is Clang. That of Windows is MinGW's, which does not align the stack for AVX-512 (GCC bug 54412).
LINUX = sys.platform == "linux"
needs_gxx = pytest.mark.skipif(
    not (LINUX and GXX and shutil.which("nm") and "x86_64" in subprocess.getoutput("g++ -dumpmachine")),
    reason="needs g++ and nm on x86-64 Linux",
)
COMPILE = [GXX, "-std=c++17", "-O1", "-Wno-psabi", "-ffp-contract=off", "-I", CORE]


@needs_gxx
@pytest.mark.parametrize("variant", ["avx2", "avx512"])
def test_no_shared_function_is_compiled_for_a_newer_processor(variant, tmp_path):
    """A weak symbol outside of the variant's namespace could replace the baseline's at link time."""
    flags = {"avx2": ["-mavx2", "-mfma"], "avx512": ["-mavx512f", "-mavx512dq", "-mavx512bw", "-mavx512vl", "-mfma"]}
    target = tmp_path / "kernels.o"
    subprocess.run([*COMPILE, *flags[variant], "-c", CORE / "variants" / f"{variant}.cpp", "-o", target], check=True)
    symbols = subprocess.run(
        ["nm", "-C", "--extern-only", "--defined-only", target], capture_output=True, text=True, check=True
    ).stdout
    foreign = [line for line in symbols.splitlines() if f"isrht::{variant}::" not in line]
    assert [line for line in foreign if "__gxx_personality" not in line] == []


class Record(ctypes.Structure):
    """A record of core/records.hpp: arrays become pointers, which it keeps alive."""

    def __init__(self, *values):
        self.kept = values
        super().__init__(*(value.ctypes.data if isinstance(value, np.ndarray) else value for value in values))


def fields(arrays, sizes, strides=""):
    """Return fields of these names: pointers first, then sizes, then strides."""
    types = {ctypes.c_void_p: arrays, ctypes.c_size_t: sizes, ctypes.c_ssize_t: strides}
    return [(name, kind) for kind, names in types.items() for name in names.split()]


class Cube(Record):
    _fields_ = fields("data", "outer length inner", "stride")


class DenseRows(Record):
    _fields_ = fields("data", "count width", "stride")


class SparseRows(Record):
    _fields_ = fields("data indices indptr", "count width")


class Columns(Record):
    _fields_ = fields("index scale", "count")


class RowChoice(Record):
    _fields_ = fields("index", "count")


class LinearModels(Record):
    _fields_ = fields("weights intercept", "problems width", "problem_stride feature_stride")


@pytest.fixture(scope="module")
def wide(tmp_path_factory):
    """Compile the kernels at the width of AVX-512 for this processor."""
    library = tmp_path_factory.mktemp("wide") / "wide.so"
    sources = Path(__file__).with_name("wide_kernels.cpp"), CORE / "boosting/diagonals.cpp", CORE / "infra/scratch.cpp"
    subprocess.run([*COMPILE, "-mavx2", "-shared", "-fPIC", *sources, "-o", library], check=True)
    return ctypes.CDLL(str(library))


def call(function, *arguments):
    function.restype = None
    function(*(_as_c(argument) for argument in arguments))


def _as_c(argument):
    if isinstance(argument, np.ndarray):
        return argument.ctypes.data_as(ctypes.c_void_p)
    if isinstance(argument, Record):
        return ctypes.byref(argument)
    return ctypes.c_double(argument) if isinstance(argument, float) else ctypes.c_size_t(argument)


def at_offset(x, offset):
    """Return a copy that begins ``offset`` bytes into a cache line."""
    memory = np.empty(x.nbytes + 128, np.uint8)
    start = -memory.ctypes.data % 64 + offset
    copy = memory[start : start + x.nbytes].view(x.dtype).reshape(x.shape)
    copy[...] = x
    return copy


@needs_gxx
@pytest.mark.parametrize("dtype", FLOATS)
def test_wide_transforms(wide, dtype, rng):
    lengths = [1, 4, 64, 128, 4096, 2**13, 2**14, 2**15, 2**17]
    shapes = [*((length, 1) for length in lengths), (64, 5), (256, 40)]
    for (length, inner), scale, offset in itertools.product(shapes, [1.0, 0.5], [0, 16, 32]):
        x = at_offset(rng.standard_normal((3, length, inner)).astype(dtype), offset)
        expected = x.copy()
        _reference.transform(expected, scale)
        call(wide[f"transform_{np.dtype(dtype).name}"], Cube(x, 3, length, inner, length * inner), scale)
        assert_array_equal(x, expected)


@needs_gxx
@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("width", WIDTHS)
def test_wide_kernels_on_dense_rows(wide, dtype, width, rng):
    name = np.dtype(dtype).name
    x, diagonal, length = dense_case(rng, dtype, width)
    rows = DenseRows(x, len(x), width, width)
    for factors, count in itertools.product([diagonal, np.sign(diagonal)], [1, 300]):
        columns, scales = choose_columns(rng, length, count, dtype)
        out, expected = np.empty((2, len(x), count), dtype)
        call(wide[f"project_rows_{name}"], rows, factors, length, Columns(columns, scales, count), out)
        _reference.project_rows(x, factors, length, columns, scales, expected)
        assert_array_equal(out, expected)
    squares, expected = np.zeros((2, length))
    chosen = np.arange(len(x))
    call(wide[f"add_squares_{name}"], rows, RowChoice(chosen, len(chosen)), diagonal, length, squares)
    _reference.add_squares(x, chosen, diagonal, expected)
    assert_array_equal(squares, expected)
    weights, scores, expected = rng.standard_normal((2, width)), *np.empty((2, len(x), 2))
    call(wide[f"score_rows_{name}"], rows, LinearModels(weights, np.ones(2), 2, width, width, 1), scores)
    _reference.score_rows(x, weights, np.ones(2), expected)
    assert_array_equal(scores, expected)


@needs_gxx
@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("count", [20, 300])
def test_wide_projection_of_sparse_rows(wide, dtype, count, rng):
    x = sparse_case(rng, dtype, np.int32, 5000)
    diagonal = rng.standard_normal(5000).astype(dtype)
    columns, scales = choose_columns(rng, 8192, count, dtype)
    out, expected = np.empty((2, len(x.indptr) - 1, count), dtype)
    rows = SparseRows(*x, len(out), 5000)
    call(wide[f"project_csr_{np.dtype(dtype).name}"], rows, diagonal, 8192, Columns(columns, scales, count), out)
    _reference.project_csr(x, diagonal, 8192, columns, scales, expected)
    assert_array_equal(out, expected)


def test_kernels_that_are_not_built_in_are_refused():
    core = pytest.importorskip("isrht.kernels._core")
    with pytest.raises(ValueError, match="no kernels 'abacus' are built in"):
        core.use_variant("abacus")
