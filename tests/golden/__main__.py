"""``python -m tests.golden``: write digests and check them, or rewrite what is in the repository."""

import argparse
import sys
import warnings

from . import committed, digests


def main():
    parser = argparse.ArgumentParser(prog="python -m tests.golden", description="Models that must not change.")
    commands = parser.add_mutually_exclusive_group(required=True)
    commands.add_argument("--write", metavar="DIR", help="write digests and model files of today's models")
    commands.add_argument("--check", metavar="DIR", help="compare today's models with them, to the bit")
    commands.add_argument("--commit", action="store_true", help="rewrite the committed numbers and files that changed")
    arguments = parser.parse_args()
    warnings.simplefilter("error")
    if arguments.commit:
        committed.rewrite()
    elif arguments.write:
        digests.write(arguments.write)
    else:
        sys.exit(0 if digests.check(arguments.check) else 1)


main()
