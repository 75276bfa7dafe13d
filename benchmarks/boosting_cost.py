"""What it costs to boost wide sparse data: seconds to fit and transform all rows, and memory beyond the data.

``python -m benchmarks.boosting_cost news20.binary.rebuilt`` reads the set as ``isrht reproduce`` does (from
``ISRHT_DATA`` or the download cache) and boosts it several times, each in a process of its own: nothing is warm. Memory
is measured in a run apart, because the thread that watches it costs time.
"""

import argparse
import json
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

import numpy as np
import scipy.sparse as sp

from isrht import BoostedISRHT
from isrht.datasets import load


class MemoryWatch(threading.Thread):
    """The most memory that this process has in use, beyond what it had at the start, in MB."""

    def __init__(self):
        super().__init__(daemon=True)
        self.start_size, self.most, self.over = self._resident(), 0.0, threading.Event()

    def run(self):
        while not self.over.wait(0.005):
            self.most = max(self.most, self._resident() - self.start_size)

    def _resident(self):
        return int(Path("/proc/self/statm").read_text().split()[1]) * 4096 / 1e6


def boost(folder, n_components, n_jobs, watch):
    """One fit and transform of what lies in ``folder``."""
    X, y = sp.load_npz(folder / "X.npz"), np.load(folder / "y.npy")
    memory = MemoryWatch()
    if watch:
        memory.start()
    begin = time.perf_counter()
    boosted = BoostedISRHT(n_components, random_state=0, n_jobs=n_jobs).fit(X, y)
    fitted = time.perf_counter()
    output = boosted.transform(X)
    seconds = fitted - begin, time.perf_counter() - fitted
    memory.over.set()
    return {"fit": seconds[0], "transform": seconds[1], "memory": memory.most, "output": output.nbytes / 1e6}


def keep(name, folder):
    train_X, train_y, test_X, test_y = load(name).scaled
    X = sp.vstack([train_X, test_X], format="csr")
    sp.save_npz(folder / "X.npz", X, compressed=False)
    np.save(folder / "y.npy", np.concatenate([train_y, test_y]))
    return X


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("set")
    parser.add_argument("--n-components", type=int, default=256)
    parser.add_argument("--n-jobs", type=int, default=2)
    parser.add_argument("--repeat", type=int, default=5)
    parser.add_argument("--watch", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if (Path(options.set) / "X.npz").exists():  # a process of its own
        print(json.dumps(boost(Path(options.set), options.n_components, options.n_jobs, options.watch)))
        return
    with tempfile.TemporaryDirectory() as folder:
        X = keep(options.set, Path(folder))
        print(f"{options.set}: {X.shape[0]:,} x {X.shape[1]:,}, {X.nnz:,} entries, {options.n_components} components")
        arguments = ["--n-components", str(options.n_components), "--n-jobs", str(options.n_jobs)]
        command = [sys.executable, "-m", "benchmarks.boosting_cost", folder, *arguments]
        for turn in range(options.repeat + 1):
            watch = ["--watch"] if turn == options.repeat else []
            run = json.loads(subprocess.run(command + watch, capture_output=True, text=True, check=True).stdout)
            if watch:
                print(f"memory beyond the data {run['memory']:.0f} MB, of which the output {run['output']:.0f}")
            else:
                both = run["fit"] + run["transform"]
                print(f"fit {run['fit']:.2f} s, transform {run['transform']:.2f} s, both {both:.2f} s", flush=True)


if __name__ == "__main__":
    main()
