"""Every command speaks and ends by these functions.

Results go to standard output, and messages to standard error. The exit code is 0 if all went well, 1 if it failed, and
2 if the command was misused.
"""

from __future__ import annotations

import json
import os
import signal
import sys
from contextlib import contextmanager

import typer

from isrht.support.file_errors import STANDARD_OUTPUT, errors_that_name, is_of_closed_pipe
from isrht.support.visible import visible_lines

FAILED = 1
MISUSED = 2
INTERRUPTED = 128 + signal.SIGINT


def say(message):
    """Say something to the person at the terminal, on standard error."""
    print(visible_lines(str(message)), file=sys.stderr, flush=True)


def give(result):
    """Give a result to the person, pipe or file at standard output."""
    give_lines([visible_lines(str(result)) + "\n"], at_once=True)


def give_lines(lines, at_once=False):
    """Give lines as they are; unless ``at_once``, they may wait for more of them."""
    with errors_that_name(STANDARD_OUTPUT):
        sys.stdout.writelines(lines)
        if at_once:
            sys.stdout.flush()


def give_json(value):
    """Give a result as JSON."""
    give(json.dumps(value, indent=2, default=str))


@contextmanager
def errors_in_words(command):
    """Turn errors of files, options and data into one line each, and into an exit code that tells whose fault it is."""
    try:
        yield
    except KeyboardInterrupt:
        say(f"\nisrht {command}: stopped")
        raise typer.Exit(INTERRUPTED) from None
    except OSError as error:
        _forget_what_is_not_written()
        if is_of_closed_pipe(error):  # the reader of the results has seen enough
            raise typer.Exit(FAILED) from None
        is_of_system = error.filename is not None and error.strerror
        problem = f"{os.fsdecode(error.filename)}: {error.strerror}" if is_of_system else str(error)
        say(f"isrht {command}: {problem}")
        raise typer.Exit(FAILED) from error
    except (ModuleNotFoundError, MemoryError) as error:
        say(f"isrht {command}: {str(error) or 'there is not enough memory'}")
        raise typer.Exit(FAILED) from error
    except (ValueError, TypeError) as error:
        say(f"isrht {command}: {error}")
        raise typer.Exit(MISUSED) from error


def _forget_what_is_not_written():
    """Drop what could not be written: Python would try to write it once more when it ends, and complain."""
    try:
        sys.stdout.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
