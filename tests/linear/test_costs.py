import subprocess
import sys

from isrht.linear.costs import DEFAULT_CS


def test_the_paper_tries_eleven_powers_of_two():
    assert DEFAULT_CS == (1 / 32, 1 / 16, 1 / 8, 1 / 4, 1 / 2, 1, 2, 4, 8, 16, 32)


def test_naming_them_loads_nothing():
    code = "import sys, isrht.linear.costs; assert not {'numpy', 'sklearn'} & {*sys.modules}, sorted(sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True)
