"""
A model on a microcontroller: read it in C
==========================================

Scaling, rotation, columns and SVM fold into one weight per feature, so a trained model is a table of numbers. Exported
as a C99 header it needs nothing but a compiler. Here it is compiled, run on rows it has not seen, and compared with
Python.
"""

import ctypes
import shutil
import subprocess
import tempfile
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits

from isrht import ISRHTClassifier
from isrht.export import export_model

X, y = load_digits(return_X_y=True)
model = ISRHTClassifier(random_state=0).fit(X[:1200], y[:1200])
folder = Path(tempfile.mkdtemp())
header = folder / "digits.h"
export_model(model, header, "c")
print(f"{header.name}: {header.stat().st_size:,} bytes of source, {8 * (model.coef_.size + 10):,} bytes of numbers")
print("\n".join(header.read_text().splitlines()[:12]))

# %%
# The smallest program that uses it. On a microcontroller ``pixels`` would come from a sensor.
(folder / "digits.c").write_text("""
#include "digits.h"
int digit_of(const double *pixels) { return (int)digits_labels[digits_class_dense(pixels)]; }
""")

compiler = shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")
if compiler:
    library = folder / "digits.so"
    source = str(folder / "digits.c")
    subprocess.run([compiler, "-std=c99", "-O2", "-Wall", "-shared", "-fPIC", source, "-o", str(library)], check=True)
    digit_of = ctypes.CDLL(str(library)).digit_of
    digit_of.argtypes = [np.ctypeslib.ndpointer(np.float64, flags="C")]
    in_c = np.array([digit_of(row) for row in X[1200:]])
else:
    in_c = model.predict(X[1200:])  # no compiler here: the figure is drawn all the same
print(f"C and Python agree on {(in_c == model.predict(X[1200:])).sum()} of {len(in_c)} rows")

# %%
# Where it is wrong, people might be, too.
wrong = np.flatnonzero(in_c != y[1200:])[:12]
figure, axes = plt.subplots(2, 6, figsize=(9, 3.6))
for axis, number in zip(axes.flat, wrong, strict=False):
    axis.imshow(X[1200 + number].reshape(8, 8), cmap="gray_r")
    axis.set(title=f"{y[1200 + number]}, C says {in_c[number]}", xticks=[], yticks=[])
    axis.grid(False)
print(f"{100 * np.mean(in_c == y[1200:]):.1f} % are right")
shutil.rmtree(folder)
