"""A stopwatch for work that has stages."""

from __future__ import annotations

from contextlib import contextmanager


class Stopwatch:
    """Seconds by stage, as a clock shows them.

    ``clock`` is :func:`time.perf_counter` for the time that a clock on the wall shows, or :func:`time.process_time` for
    that of the processor. Seconds are rounded to ``digits``.
    """

    def __init__(self, clock, digits):
        self.clock, self.digits, self.seconds = clock, digits, {}

    @contextmanager
    def stage(self, name):
        """Add the seconds that pass inside to those of this stage, also if an error ends it."""
        start = self.clock()
        try:
            yield
        finally:
            self.seconds[name] = round(self.seconds.get(name, 0) + self.clock() - start, self.digits)
