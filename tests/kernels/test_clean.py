"""Kernels leave the upper halves of the vector registers clean, which the processor tells (XINUSE, by ``xgetbv``)."""

import ctypes
import shutil
import subprocess

import numpy as np
import pytest
from kernel_cases import choose_columns, dense_case, sparse_case

from isrht import fwht, kernels
from isrht.transform.orthogonal import OrthogonalRotation

GCC = shutil.which("gcc")
UPPER_HALVES = 4
PROBE = r"""
#include <cpuid.h>
int told(void) { unsigned a, b, c, d; return __get_cpuid_count(13, 1, &a, &b, &c, &d) && (a & 4); }
unsigned in_use(void) { unsigned a, d; __asm__ volatile("xgetbv" : "=a"(a), "=d"(d) : "c"(1)); return a; }
void clean(void) { __asm__ volatile("vzeroupper"); }
void dirty(void) { __asm__ volatile("vpcmpeqd %%ymm15, %%ymm15, %%ymm15" ::: "xmm15"); }
"""


@pytest.fixture(scope="module")
def processor(tmp_path_factory):
    """What the processor says of its registers, where it does."""
    folder = tmp_path_factory.mktemp("probe")
    (folder / "probe.c").write_text(PROBE)
    command = [GCC, "-O1", "-mavx2", "-mno-vzeroupper", "-shared", "-fPIC", "probe.c", "-o", "probe.so"]
    if not GCC or "avx2" not in kernels.available() or subprocess.run(command, cwd=folder, check=False).returncode:
        pytest.skip("needs gcc, and a processor with AVX2")
    probe = ctypes.CDLL(str(folder / "probe.so"))
    if not probe.told():
        pytest.skip("this processor does not tell which registers are in use")
    probe.dirty()
    assert probe.in_use() & UPPER_HALVES
    probe.clean()
    assert not probe.in_use() & UPPER_HALVES
    return probe


def is_clean_after(processor, work):
    processor.clean()
    work()
    return not processor.in_use() & UPPER_HALVES


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int32, np.int64, np.complex64, np.float16])
@pytest.mark.parametrize("length", [4, 64, 256, 1024, 4096, 2**16, 12, 48, 1536, 20, 320])
def test_transforms_leave_registers_clean(kernel, processor, dtype, length):
    x = np.ones((30, length), dtype)
    assert is_clean_after(processor, lambda: fwht(x, overwrite_x=True))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_kernels_of_rows_leave_registers_clean(kernel, processor, dtype, rng):
    x, diagonal, length = dense_case(rng, dtype, 1000)
    entries, chosen = sparse_case(rng, dtype, np.int32, 1000), np.arange(11)
    columns, scales = choose_columns(rng, length, 40, dtype)
    rotation = OrthogonalRotation.drawn(1000, 2, 0)
    rotated, dense, sparse = np.empty_like(x), np.empty((11, 40), dtype), np.empty((40, 40), dtype)
    sums, totals = np.zeros(1000), np.zeros(length)
    engine = kernels.engine
    works = {
        "rotate rows": lambda: rotation.apply(x, rotated),
        "project rows": lambda: engine.project_rows(x, diagonal, length, columns, scales, dense),
        "project CSR": lambda: engine.project_csr(entries, diagonal, length, columns, scales, sparse),
        "add rows": lambda: engine.add_rows(x, chosen, sums),
        "add CSR rows": lambda: engine.add_csr_rows(entries, chosen, sums),
        "add squares": lambda: engine.add_squares(x, chosen, diagonal, totals),
        "add autocorrelation": lambda: engine.add_csr_autocorrelation(entries, chosen, diagonal, totals),
    }
    assert [name for name, work in works.items() if not is_clean_after(processor, work)] == []
