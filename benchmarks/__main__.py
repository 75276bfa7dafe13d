"""Run the ``main()`` of every ``bench_*.py`` in turn, or of those named; one that fails does not stop the others.

``python -m benchmarks`` runs all, ``python -m benchmarks core`` one. A bench with options of its own takes them
when it is run by itself: ``python -m benchmarks.bench_core --write``.
"""

import argparse
import importlib
import sys
import traceback
from pathlib import Path

PREFIX = "bench_"


def benches():
    """What can be run, by name."""
    return sorted(path.stem.removeprefix(PREFIX) for path in Path(__file__).parent.glob(f"{PREFIX}*.py"))


def succeeds(name):
    """Run one bench and tell whether it ended well."""
    print(f"\n## {name}\n", flush=True)
    sys.argv = [f"benchmarks.{PREFIX}{name}"]  # its own options keep their defaults
    try:
        importlib.import_module(sys.argv[0]).main()
    except (Exception, SystemExit) as error:
        if isinstance(error, SystemExit) and not error.code:
            return True
        traceback.print_exc()
        return False
    return True


def main():
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__.partition("\n")[0])
    parser.add_argument("names", nargs="*", metavar="name", help=f"of: {', '.join(benches())} (default: all)")
    names = parser.parse_args().names or benches()
    if unknown := sorted(set(names) - set(benches())):
        parser.error(f"no such bench: {', '.join(unknown)}; choose from {', '.join(benches())}")
    failed = [name for name in names if not succeeds(name)]
    if failed:
        print(f"\nfailed: {', '.join(failed)}")
    return len(failed)


if __name__ == "__main__":
    sys.exit(main())
