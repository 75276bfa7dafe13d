"""Draw the roofline of the transform, docs/how/pictures/roofline.svg, from measurements in roofline.json beside this
file.

``python docs/pictures/roofline.py --measure`` measures them anew, in a few seconds, on a machine that does nothing
else; without the option the picture is drawn again from the last measurements.
"""

from __future__ import annotations

import ctypes
import re
import subprocess
import tempfile
import time
from pathlib import Path

import matplotlib
import matplotlib.pyplot as plt
import numpy as np
from _record import run

from isrht import fwht

HERE = Path(__file__).parent
RECORD = HERE / "roofline.json"
PICTURE = HERE.parent / "how" / "pictures" / "roofline.svg"
NUMBERS = 2**24  # 64 MB of float32, which no cache holds
BYTES_MOVED = 8  # a float32 is read and written
CHAINED = 100
CHAIN = 'long chain(long n) { long x = 0; for (long i = 0; i < n; i++) __asm__ volatile("' + (
    "add $1, %0;" * CHAINED + '" : "+r"(x)); return x; }\n'
)
ADDS_PER_CYCLE = 16  # AVX2: two units of eight lanes


def least_seconds(work, repetitions=60):
    """Return the least of several times of this thread, in which other work disturbed the least."""
    times = []
    for _ in range(repetitions):
        started = time.thread_time()
        work()
        times.append(time.thread_time() - started)
    return min(times)


def measure():
    """Return what the picture is made of, on this machine, with one thread."""
    X = np.random.default_rng(0).normal(size=NUMBERS).astype(np.float32)
    one = np.float32(1.0)
    scale = least_seconds(lambda: np.multiply(X, one, out=X))
    lengths = [2**power for power in range(6, 21, 2)]
    seconds = [
        least_seconds(lambda length=length: fwht(X.reshape(-1, length), norm="ortho", overwrite_x=True))
        for length in lengths
    ]
    return {"processor": processor(), "clock": clock(), "scale": scale, "lengths": lengths, "seconds": seconds}


def clock():
    """Return the cycles per second, by a chain of sums each of which waits for the last and takes one cycle."""
    with tempfile.TemporaryDirectory() as folder:
        source, library = Path(folder) / "chain.c", Path(folder) / "chain.so"
        source.write_text(CHAIN)
        subprocess.run(["cc", "-O2", "-shared", "-fPIC", str(source), "-o", str(library)], check=True)
        chain = ctypes.CDLL(str(library)).chain
        chain.argtypes, chain.restype = [ctypes.c_long], ctypes.c_long
        return CHAINED * 10_000 / least_seconds(lambda: chain(10_000), 1000)


def processor():
    return re.search(r"model name\s*:\s*(.+)", Path("/proc/cpuinfo").read_text()).group(1)


def draw(record):
    """Write the picture: the two roofs, and a point for every length of rows."""
    matplotlib.rcParams.update({"svg.hashsalt": "isrht", "svg.fonttype": "path"})  # the same file from the same numbers
    plt.style.use(str(HERE.parent / "_static" / "gallery.mplstyle"))
    bandwidth = BYTES_MOVED * NUMBERS / record["scale"]
    peak = ADDS_PER_CYCLE * record["clock"]
    figure, axis = plt.subplots(figsize=(7.2, 4.4))
    intensity = np.geomspace(0.1, 20, 200)
    axis.plot(intensity, np.minimum(bandwidth * intensity, peak) / 1e9, color="black", linewidth=2)
    label = f"memory: {bandwidth / 1e9:.0f} GB/s"
    axis.text(0.15, 0.17 * bandwidth / 1e9, label, rotation=57, rotation_mode="anchor", fontsize=9)
    axis.text(
        6, 1.05 * peak / 1e9, f"arithmetic: {peak / 1e9:.0f} billion sums/s", ha="center", va="bottom", fontsize=9
    )
    for number, (length, seconds) in enumerate(zip(record["lengths"], record["seconds"], strict=True)):
        x = np.log2(length) / BYTES_MOVED
        y = np.log2(length) * NUMBERS / seconds / 1e9
        axis.plot(x, y, "o", color="C0" if length <= 2**16 else "C1")
        axis.annotate(
            f"$2^{{{int(np.log2(length))}}}$", (x, y), xytext=(0, -16), textcoords="offset points", ha="center"
        )
        if number == 0:
            axis.plot([], [], "o", color="C0", label="rows up to 256 kB: moved once")
            axis.plot([], [], "o", color="C1", label="longer rows: moved more often")
    axis.set(xscale="log", yscale="log", xlabel="sums per byte that is moved", ylabel="billion sums per second")
    axis.set_title("Transforms in place, one thread, float32, rows of different lengths")
    axis.legend(loc="lower right")
    figure.savefig(PICTURE, metadata={"Date": None})


if __name__ == "__main__":
    run(__doc__, RECORD, measure, draw)
