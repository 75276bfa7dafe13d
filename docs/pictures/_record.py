"""A picture is drawn from a record, which lies beside it and is measured anew only if that is asked for."""

import argparse
import json


def run(about, record, measure, draw):
    """Draw a picture, as a script does; with ``--measure``, measure first.

    Parameters
    ----------
    about : str
        What the script does.
    record : Path
        The file of the record, in JSON.
    measure, draw : callable
        Return a record, and draw one.
    """
    parser = argparse.ArgumentParser(description=about.splitlines()[0])
    parser.add_argument("--measure", action="store_true", help="measure anew before drawing; takes some minutes")
    if parser.parse_args().measure:
        record.write_text(json.dumps(measure(), indent=1) + "\n")
    draw(json.loads(record.read_text()))
