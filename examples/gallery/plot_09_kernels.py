"""
In the cache, and out of it
===========================

How long does a Walsh-Hadamard transform take beside multiplying the same array by a number? The first does log2(d)
additions per number, the second one multiplication; what counts is how often each number is moved. Measured on the
machine that built this page, which may have been busy: the smallest of several times.
"""

import time

import matplotlib.pyplot as plt
import numpy as np
from scipy.fft import dct

from isrht import fwht

rng = np.random.default_rng(0)
LENGTHS = 2 ** np.arange(4, 21, 2)
NUMBERS = 2**24  # 64 MB: more than the caches hold


def seconds(work, *, repetitions=5):
    times = []
    for _ in range(repetitions):
        started = time.perf_counter()
        work()
        times.append(time.perf_counter() - started)
    return min(times)


# %%
# Arrays of sixteen million floats, as rows of different lengths: 16 numbers, 64, and so on to a million. For each, one
# pass of memory (a product in place), our transform in place, and SciPy's cosine transform, which does similar work.
measured = {"multiply by a number": [], "fwht": [], "scipy.fft.dct": []}
for length in LENGTHS:
    X = rng.normal(size=(NUMBERS // length, length)).astype(np.float32)
    measured["multiply by a number"].append(seconds(lambda X=X: np.multiply(X, np.float32(1), out=X)))
    measured["fwht"].append(seconds(lambda X=X: fwht(X, norm="ortho", overwrite_x=True)))
    measured["scipy.fft.dct"].append(seconds(lambda X=X: dct(X, norm="ortho", overwrite_x=True), repetitions=2))

figure, axis = plt.subplots()
for name, times in measured.items():
    axis.plot(LENGTHS, 1e9 * np.array(times) / NUMBERS, "o-", label=name)
axis.set_xscale("log", base=2)
axis.set_yscale("log")
for size, name in ((2**13, "first-level cache (32 kB)"), (2**17, "second level (512 kB)")):
    axis.axvline(size, color="black", linewidth=1, linestyle=":")
    axis.text(size, axis.get_ylim()[1], f" {name}", va="top", fontsize=8)
axis.set(xlabel="length of a row", ylabel="nanoseconds per number")
axis.set_title("A row that fits the cache costs little more than moving it")
axis.legend(loc="center left")

# %%
ratios = np.array(measured["fwht"]) / np.array(measured["multiply by a number"])
for length, ratio in zip(LENGTHS, ratios, strict=True):
    print(f"rows of {length:>9,}: fwht takes {ratio:.1f} times a product in place")
