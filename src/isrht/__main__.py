"""``python -m isrht``, and the ``isrht`` command.

The command line needs the ``cli`` extra. Without it ``info`` still works, because a bug report should not need
anything installed first.
"""

from __future__ import annotations

import os
import signal
import sys
import threading


def main(arguments=None):
    arguments = sys.argv[1:] if arguments is None else list(arguments)
    _escape_what_the_terminal_cannot_show()
    _end_in_order_when_asked_to()
    try:
        return _run(arguments)
    except KeyboardInterrupt:  # before a command has begun
        return 128 + signal.SIGINT
    except OSError as error:  # of the help, say, when the disk is full: commands tell of their own
        return _end_without_output(error)


def _run(arguments):
    try:
        from isrht.cli.app import app
    except ModuleNotFoundError as error:
        if error.name != "typer":
            raise
        return _without_typer(arguments)
    return app(arguments, standalone_mode=True)


def _escape_what_the_terminal_cannot_show():
    """A terminal of few letters is no reason to fail: others are shown as escapes. Nor is it if there is none."""
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if stream is None:
            setattr(sys, name, open(os.devnull, "w"))  # noqa: SIM115, it stays open
        elif hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")


def _end_in_order_when_asked_to():
    """SIGTERM and SIGHUP, as Ctrl-C does, unwind what is under way, so that no temporary files are left."""
    if threading.current_thread() is not threading.main_thread():
        return
    for name in ("SIGTERM", "SIGHUP"):
        number = getattr(signal, name, None)
        if number is not None and signal.getsignal(number) == signal.SIG_DFL:  # nohup would have it ignored
            signal.signal(number, lambda number, _: sys.exit(128 + number))


def _end_without_output(error):
    """Say what is wrong with standard output, unless its reader has seen enough; do not try it again at the end."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    if not isinstance(error, BrokenPipeError):
        print(f"isrht: {error if error.filename else f'standard output: {error.strerror}'}", file=sys.stderr)
    return 1


def _without_typer(arguments):
    if arguments != ["info"]:
        print(
            "isrht: only 'isrht info' works without the command line's packages: pip install 'isrht[cli]'",
            file=sys.stderr,
        )
        return 2
    from isrht.kernels.information import information

    print("\n".join(f"{name:18} {value}" for name, value in information()), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
