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
    try:
        from isrht.cli.app import app
    except ModuleNotFoundError as error:
        if error.name != "typer":
            raise
        return _without_typer(arguments)
    _end_in_order_when_asked_to()
    return app(arguments, standalone_mode=True)


def _end_in_order_when_asked_to():
    """SIGTERM, as Ctrl-C does, unwinds what is under way, so that no temporary files are left."""
    if threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))


def _without_typer(arguments):
    if arguments != ["info"]:
        print(
            "isrht: only 'isrht info' works without the command line's packages: pip install 'isrht[cli]'",
            file=sys.stderr,
        )
        return 2
    from isrht.kernels.information import information

    try:
        print("\n".join(f"{name:18} {value}" for name, value in information()), flush=True)
    except BrokenPipeError:  # who reads has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
