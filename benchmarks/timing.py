"""The least time of several calls, taken in turns.

Noise on a machine only ever adds time, so the least of several is the one to compare. Functions that are
compared take turns, so that a noisy minute hits all of them.
"""

import math
import time


def best_of(functions, repeat, clock=time.perf_counter):
    """The least seconds of each of ``functions`` (name -> callable), over ``repeat`` turns and one to warm up."""
    best = dict.fromkeys(functions, math.inf)
    for turn in range(repeat + 1):
        for name, function in functions.items():
            start = clock()
            function()
            if turn:
                best[name] = min(best[name], clock() - start)
    return best
