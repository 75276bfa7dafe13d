"""FFHT, the peer that is no package of Python 3: its C sources are compiled for the time of a benchmark.

The sources are wanted in the folder that the environment variable ``FFHT_SOURCES`` names. Those of version 1.0 are in
the source distribution of FALCONN (``pip download --no-deps --no-binary :all: falconn``, in
``include/falconn/ffht``); those of GitHub have other names of functions, and serve as well. FFHT transforms one row a
call, from C: so a loop over rows is compiled with it, and no call from Python is counted for a row. Rows begin at
multiples of 32 bytes, as FFHT asks for, where they are long enough for that.
"""

import ctypes
import os
import subprocess
import tempfile
from functools import cache
from pathlib import Path

import numpy as np

VARIABLE = "FFHT_SOURCES"
ROWS = """
#include "fht.h"
int transform_rows(float *rows, long count, int log_length) {
    int failed = 0;
    for (long i = 0; i < count; ++i) failed |= CALL(rows + (i << log_length));
    return failed;
}
"""
# Where version 1.0 goes over from recursion to a loop: what its manual advises.
CHUNK = 1024
OLD, NEW = f"FHTFloat(row, 1 << log_length, {CHUNK})", "fht_float(row, log_length)"
FLAGS = ["-O3", "-march=native", "-std=c99", "-D_POSIX_C_SOURCE=200112L", "-shared", "-fPIC"]


def is_orthonormal():
    """Return whether these sources divide by the square root of the length, as those of version 1.0 do."""
    return "FHTFloat" in (Path(os.environ[VARIABLE]) / "fht.h").read_text()


@cache
def library():
    """Return the compiled library; an ImportError says that there are no sources."""
    folder = os.environ.get(VARIABLE)
    if not folder:
        raise ImportError(f"{VARIABLE} names no folder")
    folder = Path(folder)
    call = OLD if is_orthonormal() else NEW
    with tempfile.TemporaryDirectory() as work:
        source, target = Path(work) / "rows.c", Path(work) / "ffht.so"
        source.write_text(f"#define CALL(row) ({call})\n{ROWS}".replace("(row,", "((row),"))
        command = ["cc", *FLAGS, f"-I{folder}", str(source), str(folder / "fht.c"), "-o", str(target)]
        subprocess.run(command, check=True)
        return ctypes.CDLL(str(target))


def transform_rows(x):
    """Transform float32 rows, side by side in memory, in place: orthonormally by version 1.0, else not normalised."""
    count, length = x.shape
    rows = ctypes.c_void_p(x.ctypes.data)
    if library().transform_rows(rows, ctypes.c_long(count), ctypes.c_int(length.bit_length() - 1)):
        raise ValueError("FFHT takes no such rows")


def aligned(x):
    """Return a copy that begins at a multiple of 64 bytes."""
    memory = np.empty(x.size + 16, x.dtype)
    start = -memory.ctypes.data % 64 // x.itemsize
    copy = memory[start : start + x.size].reshape(x.shape)
    copy[...] = x
    return copy
