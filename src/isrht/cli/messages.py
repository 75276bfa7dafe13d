"""What every command says and how it ends: results on stdout, messages on stderr; 0 done, 1 failed, 2 misused."""

from __future__ import annotations

import json
import sys

FAILED = 1
MISUSED = 2


def say(message):
    """A message for the person at the terminal."""
    print(message, file=sys.stderr, flush=True)


def give(result):
    """A result for a pipe or a file."""
    print(result, flush=True)


def give_json(value):
    give(json.dumps(value, indent=2, default=str))
