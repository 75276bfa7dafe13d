"""Speed, as ratios of times measured in the same run; ``python -m benchmarks`` runs every ``bench_*.py``.

One thread each unless a row says otherwise, so the libraries that start threads by themselves are told so here,
before any of them is imported.
"""

import os

for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(variable, "1")
