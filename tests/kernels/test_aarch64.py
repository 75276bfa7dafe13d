"""The kernels on another processor: compiled for aarch64, run by emulation, to the bit as the twins say.

Debian: ``apt-get install g++-aarch64-linux-gnu qemu-user``, then ``make test-aarch64``. Emulation tells nothing of
time, so the instructions that a transform takes are counted instead.
"""

import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from isrht.kernels import _reference
from isrht.transform.lengths import SMALL_ORDERS
from isrht.transform.matrices import small_matrix

CORE = Path(__file__).parents[2] / "core"
GXX, QEMU = shutil.which("aarch64-linux-gnu-g++"), shutil.which("qemu-aarch64")
pytestmark = pytest.mark.skipif(
    not (GXX and QEMU), reason="needs aarch64-linux-gnu-g++ and qemu-aarch64 (Debian: g++-aarch64-linux-gnu, qemu-user)"
)
FLAGS = ["-std=c++17", "-O3", "-ffp-contract=off", "-fno-math-errno", "-fno-trapping-math", "-Wno-psabi", "-static"]
LETTERS = {np.dtype(np.float32): "f", np.dtype(np.float64): "d", np.dtype(np.int32): "i", np.dtype(np.int64): "l"}


@pytest.fixture(scope="module")
def program(tmp_path_factory):
    target = tmp_path_factory.mktemp("aarch64") / "kernels"
    sources = Path(__file__).with_name("aarch64_kernels.cpp"), CORE / "infra/scratch.cpp"
    subprocess.run([GXX, *FLAGS, "-I", CORE, *sources, "-o", target], check=True)
    return target


def request(x, scale, matrix=None, repeat=1):
    """Return the bytes of a request."""
    words = ["streams" if matrix else "transform", LETTERS[x.dtype], *x.shape, scale, repeat]
    if matrix:
        words += [matrix.order, matrix.field, matrix.cycle, len(matrix.added), *matrix.added]
    return " ".join(map(str, words)).encode() + b"\n" + x.tobytes()


def answers(program, cases):
    """Return what the other processor makes of all cases."""
    content = b"".join(request(*case) for case in cases)
    out = subprocess.run([QEMU, program], input=content, capture_output=True, check=True).stdout
    results, at = [], 0
    for x, *_ in cases:
        results.append(np.frombuffer(out, x.dtype, x.size, at).reshape(x.shape))
        at += x.nbytes
    assert at == len(out)
    return results


def twin(x, scale, matrix=None):
    x = x.copy()
    if matrix:
        _reference.transform_streams(x, matrix, scale)
    else:
        _reference.transform(x, scale)
    return x


def drawn(rng, shape, dtype):
    if np.dtype(dtype).kind == "i":
        return rng.integers(np.iinfo(dtype).min, np.iinfo(dtype).max, shape, dtype=dtype, endpoint=True)
    return rng.standard_normal(shape).astype(dtype)


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int32, np.int64])
def test_transforms_have_the_bits_of_the_twin(program, dtype, rng):
    shapes = [(3, 2**k, 1) for k in range(16)] + [(2, 2**k, inner) for k in (3, 7, 10) for inner in (2, 5, 40)]
    scales = [1.0] if np.dtype(dtype).kind == "i" else [1.0, 0.5]
    cases = [(drawn(rng, shape, dtype), scale) for shape in shapes for scale in scales]
    for case, result in zip(cases, answers(program, cases), strict=True):
        assert_array_equal(result, twin(*case))


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int32, np.int64])
def test_other_orders_have_the_bits_of_the_twin(program, dtype, rng):
    cases = [
        (drawn(rng, (rows, order << k, inner), dtype), 1.0, small_matrix(order))
        for order in SMALL_ORDERS
        for k, rows, inner in [(0, 9, 1), (1, 3, 1), (3, 2, 3), (5, 2, 1), (8, 1, 1)]
    ]
    for case, result in zip(cases, answers(program, cases), strict=True):
        assert_array_equal(result, twin(*case))


def instructions(program, x, folder):
    """Return how many instructions one transform takes: the difference of one more, counted by single steps."""
    counts, log = [], folder / "log"
    options = subprocess.run([QEMU, "-help"], capture_output=True, text=True, check=False).stdout
    step = next(name for name in ("-one-insn-per-tb", "-singlestep") if name in options)  # QEMU 9 has lost the second.
    for repeat in (1, 2):
        command = [QEMU, step, "-d", "nochain,exec", "-D", log, program]
        subprocess.run(command, input=request(x, 1.0, None, repeat), stdout=subprocess.DEVNULL, check=True)
        with open(log, "rb") as lines:
            counts.append(sum(line.startswith(b"Trace") for line in lines))
    return counts[1] - counts[0]


def test_instructions_per_value_do_not_grow(program, rng, tmp_path):
    """There are 5.59; without fused products in the stages within vectors there were 5.79."""
    per_value = instructions(program, drawn(rng, (1, 1024, 1), np.float32), tmp_path) / 1024
    assert 3 < per_value < 5.9, f"{per_value:.2f} instructions per value"
