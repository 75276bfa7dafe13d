"""Processes that run tasks, write the journal themselves, and never outlive their parent.

Each worker has a pipe of its own. It gets a task, runs it, appends the record to the journal and sends it back. If the
parent is gone, even by SIGKILL, the pipe ends: the worker finishes its run, which still goes into the journal, and
stops. If a worker is gone (killed, or out of memory), the parent records the failure and starts another.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
from collections import deque
from multiprocessing.connection import wait

from isrht.datasets.own import register_all
from isrht.experiments.journal import Journal
from isrht.experiments.run import record_of

# threadpoolctl does not know Accelerate, the BLAS of macOS: only its variable, the last one, reaches it.
BLAS_VARIABLES = (
    "OPENBLAS_NUM_THREADS",
    "MKL_NUM_THREADS",
    "OMP_NUM_THREADS",
    "BLIS_NUM_THREADS",
    "VECLIB_MAXIMUM_THREADS",
)


def run_in_processes(tasks, jobs, journal_path, environment_key, data_dir=None, on_start=None):
    """Run the tasks in ``jobs`` processes and yield ``(task, record)`` as they end, in any order."""
    waiting = deque(tasks)
    options = (str(journal_path), environment_key, None if data_dir is None else str(data_dir))
    workers = [Worker(options) for _ in range(min(jobs, len(waiting)))]
    try:
        for worker in workers:
            _give(worker, waiting, on_start)
        while busy := [worker for worker in workers if worker.task is not None]:
            ready = wait([worker.pipe for worker in busy])
            for worker in busy:
                if worker.pipe not in ready:
                    continue
                task, record = worker.take()
                if isinstance(record, OSError):
                    raise record
                if record is None:
                    record = _record_death(task, worker, journal_path, environment_key)
                    workers.remove(worker)
                    worker = Worker(options)
                    workers.append(worker)
                _give(worker, waiting, on_start)
                yield task, record
    finally:
        for worker in workers:
            worker.stop()


class Worker:
    """The parent's end of one process."""

    def __init__(self, options):
        context = multiprocessing.get_context("spawn")
        self.pipe, theirs = context.Pipe()
        self.process = context.Process(target=serve, args=(theirs, *options), daemon=True)
        with _one_blas_thread_in_children():
            self.process.start()
        theirs.close()
        self.task = None

    def give(self, task):
        self.task = task
        self.pipe.send(task)

    def take(self):
        """Return the task and its record, which is None if the process has died."""
        task, self.task = self.task, None
        try:
            return task, self.pipe.recv()
        except (EOFError, ConnectionResetError):
            self.process.join()
            return task, None

    def stop(self):
        """Close the pipe, at whose end an idle worker stops by itself, and end a worker that is at work."""
        self.pipe.close()
        if self.task is not None:
            self.process.terminate()
        self.process.join()


def serve(pipe, journal_path, environment_key, data_dir):
    """Run tasks until the pipe ends: this is what a worker does all its life."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches all processes of the group; the parent decides
    from threadpoolctl import threadpool_limits

    journal, run_task = Journal(journal_path), Runner(data_dir)
    register_all(journal.read().records)
    with threadpool_limits(1):
        while True:
            try:
                task = pipe.recv()
            except EOFError:
                return
            record = run_task(task) | {"environment": environment_key}
            try:
                journal.append(record)
            except OSError as error:  # a full disk, say: the parent will report it
                record = error
            try:
                pipe.send(record)
            except (BrokenPipeError, ConnectionResetError):
                return


class Runner:
    """Runs tasks and keeps the last set in memory, because tasks come ordered by set."""

    def __init__(self, data_dir=None):
        self.data_dir = data_dir
        self.dataset = None

    def __call__(self, task):
        from isrht.experiments._complexity import run_projection
        from isrht.experiments.run import failure, run

        if task.kind == "projection":
            return run_projection(task)
        try:
            dataset = self._load(task.set)
        except Exception as error:
            return record_of(task, failure(error))
        return run(task, dataset)

    def _load(self, name):
        from isrht.datasets import load

        if self.dataset is None or self.dataset.name != name:
            self.dataset = None  # frees the memory of the last set before the next is read
            self.dataset = load(name, self.data_dir)
        return self.dataset


def _give(worker, waiting, on_start):
    if waiting:
        task = waiting.popleft()
        worker.give(task)
        if on_start is not None:
            on_start(task)


def _record_death(task, worker, journal_path, environment_key):
    code = worker.process.exitcode
    how = f"signal {-code}" if code is not None and code < 0 else f"exit code {code}"
    result = {"status": "failed", "error": f"the process ended with {how} (out of memory?)"}
    record = record_of(task, result) | {"environment": environment_key}
    Journal(journal_path).append(record)
    return record


class _one_blas_thread_in_children:
    """Sets, while a process is started, the environment variables that BLAS reads when it is loaded."""

    def __enter__(self):
        self.before = {name: os.environ.get(name) for name in BLAS_VARIABLES}
        os.environ.update(dict.fromkeys(BLAS_VARIABLES, "1"))

    def __exit__(self, *_):
        for name, value in self.before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value
