"""What runs as ``python -m isrht`` and as the ``isrht`` command.

The command line needs the ``cli`` extra. Without it ``isrht info`` still works, because a bug report should not need
anything installed first.
"""

from __future__ import annotations

import os
import signal
import sys
import threading


def main(arguments=None):
    """Run the command line and return its exit code.

    Parameters
    ----------
    arguments : list of str, default=None
        What follows the name of the command; None takes it from the shell.

    Returns
    -------
    int or None
        0 or None if all went well. Commands themselves end by ``SystemExit``.
    """
    arguments = sys.argv[1:] if arguments is None else list(arguments)
    _escape_what_the_terminal_cannot_show()
    _end_in_order_when_asked_to()
    try:
        return _run(arguments)
    except KeyboardInterrupt:  # commands handle it themselves: this one came before a command had begun
        return 128 + signal.SIGINT
    except OSError as error:  # commands report their own errors: this one may be of the help text, on a full disk
        return _end_without_output(error)


def _run(arguments):
    """Hand the arguments to the command line, or to the little that works without its packages."""
    try:
        from isrht.cli.app import app
    except ModuleNotFoundError as error:
        if error.name != "typer":
            raise
        return _without_typer(arguments)
    return app(arguments, standalone_mode=True)


def _escape_what_the_terminal_cannot_show():
    """Show characters that the terminal does not have as escapes, and write nowhere if there is no terminal at all."""
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if stream is None:
            setattr(sys, name, open(os.devnull, "w"))  # noqa: SIM115, it stays open
        elif hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")


def _end_in_order_when_asked_to():
    """Let SIGTERM and SIGHUP unwind what is under way, as Ctrl-C does, so that no temporary files are left.

    Windows has Ctrl-Break instead of SIGHUP.
    """
    if threading.current_thread() is not threading.main_thread():
        return
    for name in ("SIGTERM", "SIGHUP", "SIGBREAK"):
        number = getattr(signal, name, None)
        if number is not None and signal.getsignal(number) == signal.SIG_DFL:  # nohup wants SIGHUP to be ignored
            signal.signal(number, lambda number, _: sys.exit(128 + number))


def _end_without_output(error):
    """Say what is wrong with standard output, unless its reader has seen enough, and return the exit code 1.

    Python would try to write what is left once more when it ends, and fail again: that goes nowhere instead.
    """
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    from isrht.support.file_errors import is_of_closed_pipe

    if not is_of_closed_pipe(error):
        print(f"isrht: {error if error.filename else f'standard output: {error.strerror}'}", file=sys.stderr)
    return 1


def _without_typer(arguments):
    """Run ``isrht info``; of any other command say what it needs. Return the exit code."""
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
