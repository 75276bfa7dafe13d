"""The transform over all lengths and types: time per value and error, against peers and a copy of the memory.

An array of a million values (more for longer rows) is transformed in place, by one thread. What others are called: FFHT
(compiled from sources that ``FFHT_SOURCES`` names, :mod:`benchmarks.ffht`) and ``pyfwht`` transform row after row;
``faiss`` does three transforms with signs; ``scipy.fft.dct`` is another transform; "torch, naively" is the recursion
that most code for torch has. Who is not installed is named and left out. The tables and the figure are written, unless
``--no-write`` says not to.
"""

import argparse
import math
from importlib import import_module
from pathlib import Path

import numpy as np
import scipy.fft

from benchmarks import ffht as ffht_rows
from benchmarks.bench_core import conditions
from benchmarks.timing import best_of
from isrht import fwht, kernels
from isrht.kernels import _reference
from isrht.transform.lengths import SMALL_ORDERS, small_order
from isrht.transform.matrices import small_matrix

RESULTS = Path(__file__).parent / "results" / "transform.md"
FIGURE = Path(__file__).parents[1] / "docs" / "pictures" / "transform.svg"
VALUES = 2**20
LENGTHS = [2**k for k in range(1, 25)]
TYPES = [np.float32, np.float64, np.int32, np.complex64, np.float16]
REPEAT = 5


def rows_of(length, dtype, values=VALUES):
    rng = np.random.default_rng(0)
    return rng.standard_normal((max(1, values // length), length)).astype(dtype)


def ours(x):
    options = {} if x.dtype.kind == "i" else {"norm": "ortho"}
    return lambda: fwht(x, overwrite_x=True, **options)


def copy(x):
    target = np.empty_like(x)
    return lambda: np.copyto(target, x)


def dct(x):
    return lambda: scipy.fft.dct(x, norm="ortho", overwrite_x=True)


def pyfwht(x):
    module = import_module("pyfwht")
    rows = x.astype(np.float64)[: max(1, len(x) // 16)]  # float64 alone; a call a row, so few rows tell
    return (lambda: [module.transform(row, module.Backend.CPU) for row in rows]), len(x) / len(rows)


def ffht(x):
    ffht_rows.library()
    rows = ffht_rows.aligned(x)
    return lambda: ffht_rows.transform_rows(rows)


def faiss(x):
    module = import_module("faiss")
    module.omp_set_num_threads(1)
    rotation = module.HadamardRotation(x.shape[1])
    return lambda: rotation.apply(x)


def torch_naively(x):
    torch = import_module("torch")
    torch.set_num_threads(1)
    tensor = torch.from_numpy(x)
    return lambda: naive_recursion(torch, tensor)


def naive_recursion(torch, z):
    """The transform that most code for torch has, stage after stage."""
    shape, h = z.shape, 1
    while h < shape[1]:
        z = z.view(shape[0], -1, 2, h)
        z = torch.stack([z[:, :, 0] + z[:, :, 1], z[:, :, 0] - z[:, :, 1]], dim=2).view(shape)
        h *= 2
    return z


PEERS = {
    "copy": copy,
    "scipy.fft.dct": dct,
    "pyfwht": pyfwht,
    "faiss (three)": faiss,
    "FFHT": ffht,
    "torch, naively": torch_naively,
}


def per_value(length):
    """Nanoseconds per value of every type, and of every peer in float32."""
    found = {}
    for dtype in TYPES:
        x = rows_of(length, dtype)
        found[np.dtype(dtype).name] = 1e9 * best_of({0: ours(x)}, REPEAT)[0] / x.size
    x = rows_of(length, np.float32)
    for name, prepare in PEERS.items():
        try:
            prepared = prepare(x.copy())
        except ImportError:
            found[name] = None
            continue
        work, share = prepared if isinstance(prepared, tuple) else (prepared, 1)
        found[name] = 1e9 * best_of({0: work}, 2)[0] / x.size * share
    return found


def normalised(result):
    return result / np.sqrt(result.dtype.type(result.shape[1]))


def ffht_result(x):
    ffht_rows.library()
    rows = ffht_rows.aligned(x)
    ffht_rows.transform_rows(rows)
    return rows if ffht_rows.is_orthonormal() else normalised(rows)


def torch_result(x):
    torch = import_module("torch")
    return normalised(naive_recursion(torch, torch.from_numpy(x)).numpy())


def pyfwht_result(x):
    module = import_module("pyfwht")
    rows = x.copy()
    for row in rows:
        module.transform(row, module.Backend.CPU)
    return normalised(rows)


# Who is asked for orthonormal transforms, and in which type.
TYPES_OF_OURS = ("float32", "float64")
RESULTS_OF = {
    "float32": (lambda x: fwht(x, norm="ortho"), np.float32),
    "float64": (lambda x: fwht(x, norm="ortho"), np.float64),
    "FFHT, float32": (ffht_result, np.float32),
    "torch, naively, float32": (torch_result, np.float32),
    "pyfwht, float64": (pyfwht_result, np.float64),
}


def error(length, transform, dtype):
    """The error of an orthonormal transform, in units of rounding of the type: root of mean squares of all.

    What is exact is computed by the twin in the widest type there is, of 80 bits on x86.
    """
    x = rows_of(length, dtype, values=2**16)[:8]
    exact = x.astype(np.longdouble)
    order = small_order(length)
    if order == 1:
        _reference.transform(exact[:, :, None], 1)
    else:
        _reference.transform_streams(exact[:, :, None], small_matrix(order), 1)
    exact /= np.sqrt(np.longdouble(length))
    unit = np.finfo(np.dtype(dtype)).eps / 2
    try:
        return float(np.sqrt(np.mean((transform(x) - exact) ** 2) / np.mean(exact**2)) / unit)
    except ImportError:
        return None


def error_table():
    yield "| error | " + " | ".join(RESULTS_OF) + " |"
    yield "|" + "---|" * (len(RESULTS_OF) + 1)
    for k in (1, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20):
        yield f"| 2^{k} | {' | '.join(cell(error(2**k, *one)) for one in RESULTS_OF.values())} |"
    for m, k in ((m, k) for m in SMALL_ORDERS for k in (0, 6, 12)):
        ours = (cell(error(m << k, *RESULTS_OF[name])) if name in TYPES_OF_OURS else "" for name in RESULTS_OF)
        yield f"| {m} * 2^{k} | {' | '.join(ours)} |"


def cell(value):
    return "" if value is None or math.isnan(value) else f"{value:.2f}"


def named(length):
    k = length.bit_length() - 1
    return f"2^{k}" if length == 2**k else f"{length}"


def length_table(measured):
    names = list(next(iter(measured.values())))
    missing = [name for name in names if measured[LENGTHS[0]].get(name, 0) is None]
    names = [name for name in names if name not in missing]
    yield "| length | " + " | ".join(names) + " |"
    yield "|" + "---|" * (len(names) + 1)
    for length, found in measured.items():
        cells = [cell(found.get(name)) for name in names]
        yield f"| {named(length)} | {' | '.join(cells)} |"
    if missing:
        yield ""
        yield f"Not installed here, and so not timed: {', '.join(missing)}."


def other_table():
    yield "| m * 2^k | " + " | ".join(f"m={m}" for m in (12, 20, 28, 36, 44, 52, 60)) + " | 16 * 2^k |"
    yield "|" + "---|" * 9
    for dtype in (np.float32, np.float64, np.int32, np.int64):
        for k in (0, 1, 2, 3, 4, 6, 8, 10, 12, 14):
            lengths = [m << k for m in (12, 20, 28, 36, 44, 52, 60, 16)]
            arrays = {length: rows_of(length, dtype) for length in lengths}
            best = best_of({length: ours(x) for length, x in arrays.items()}, REPEAT)
            times = [1e9 * best[length] / arrays[length].size for length in lengths]
            cells = [f"{t:.2f} ({t / times[-1]:.1f}x)" for t in times[:-1]]
            yield f"| {np.dtype(dtype).name}, k={k} | {' | '.join(cells)} | {times[-1]:.2f} |"


def variant_table():
    """Every kernel that this processor can run."""
    shapes = [(4096, 4096), (1024, 16384), (16384, 256)]
    yield "| kernel | " + " | ".join(f"{a} x {b} {t}" for a, b in shapes for t in ("float32", "float64")) + " |"
    yield "|" + "---|" * (2 * len(shapes) + 1)
    before = kernels.active()
    for name in [one for one in kernels.available() if one != kernels.NUMPY]:
        kernels.use(name)
        cells = []
        for shape in shapes:
            for dtype in (np.float32, np.float64):
                x = rows_of(shape[1], dtype, shape[0] * shape[1])
                cells.append(f"{1e3 * best_of({0: ours(x)}, REPEAT)[0]:.1f} ms")
        yield f"| {name} | {' | '.join(cells)} |"
    kernels.use(before)


WIDTH, HEIGHT, LEFT, TOP, RIGHT, BOTTOM = 640, 384, 60, 24, 140, 40
LOWEST, HIGHEST = 2**-5, 2**7
LINE = 14  # so far apart are names
SHOWN = {
    "float32": "#0b6e4f",
    "float64": "#2a6fbb",
    "copy": "#777",
    "scipy.fft.dct": "#c1521f",
    "faiss (three)": "#8a4fbf",
    "FFHT": "#b8860b",
    "torch, naively": "#c2185b",
}


def place(length, value):
    """Where a time per value is in the figure."""
    x = LEFT + (WIDTH - LEFT - RIGHT) * (math.log2(length) - 1) / 23
    return x, TOP + (HEIGHT - TOP - BOTTOM) * math.log2(HIGHEST / value) / math.log2(HIGHEST / LOWEST)


def figure(measured):
    """An SVG of nanoseconds per value against the length, both in powers of two."""
    parts = [f'<text x="{LEFT}" y="14">nanoseconds per value, one thread, kernel {kernels.active()}</text>']
    for k in range(-5, 8, 2):
        y = place(2, 2.0**k)[1]
        parts.append(f'<path d="M{LEFT} {y:.1f}H{WIDTH - RIGHT}" stroke="#ddd"/>')
        parts.append(f'<text x="{LEFT - 6}" y="{y + 4:.1f}" text-anchor="end">{2.0**k:g}</text>')
    for k in range(2, 25, 2):
        parts.append(f'<text x="{place(2**k, 1)[0]:.1f}" y="{HEIGHT - 20}" text-anchor="middle">2^{k}</text>')
    names = []
    for name, colour in SHOWN.items():
        places = [place(length, found[name]) for length, found in measured.items() if found.get(name)]
        if places:
            line = " ".join(f"{x:.1f},{y:.1f}" for x, y in places)
            parts.append(f'<polyline points="{line}" fill="none" stroke="{colour}" stroke-width="2"/>')
            x, y = places[-1]
            names.append((y + 4, x + 6, name, colour))
    lowest = -math.inf
    for y, x, name, colour in sorted(names):
        lowest = max(y, lowest + LINE)
        parts.append(f'<text x="{x:.1f}" y="{lowest:.1f}" fill="{colour}">{name}</text>')
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" font-family="sans-serif" '
        f'font-size="12" role="img" aria-label="Time per value of the transform against its length">'
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="white"/>{"".join(parts)}</svg>\n'
    )


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--no-write", action="store_true", help=f"leave results/{RESULTS.name} and the figure alone")
    write = not parser.parse_args().no_write
    measured = {length: per_value(length) for length in LENGTHS}
    intro = "Nanoseconds per value; errors are in units of rounding, of the orthonormal transform."
    tables = [length_table(measured), error_table(), other_table(), variant_table()]
    lines = [intro, "", *(line for table in tables for line in (*table, "")), conditions()]
    print("\n".join(lines))
    if write:
        RESULTS.write_text("\n".join(lines) + "\n")
        FIGURE.write_text(figure(measured))


if __name__ == "__main__":
    main()
