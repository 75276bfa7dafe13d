"""``python -m isrht``, and the ``isrht`` command.

The command line needs the ``cli`` extra. Without it ``info`` still works, because a bug report should not need
anything installed first.
"""

from __future__ import annotations

import sys


def main(arguments=None):
    arguments = sys.argv[1:] if arguments is None else list(arguments)
    try:
        from isrht.cli.app import app
    except ModuleNotFoundError as error:
        if error.name != "typer":
            raise
        return _without_typer(arguments)
    return app(arguments, standalone_mode=True)


def _without_typer(arguments):
    if arguments != ["info"]:
        print(
            "isrht: only 'isrht info' works without the command line's packages: pip install 'isrht[cli]'",
            file=sys.stderr,
        )
        return 2
    from isrht.information import information

    for name, value in information():
        print(f"{name:18} {value}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
