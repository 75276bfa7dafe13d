"""The figure of docs/boosting.md: test accuracy against the number of components, as a plain SVG.

``python -m benchmarks.figure_boosting --data DIR --set usps`` reads the files of :mod:`benchmarks.bench_boosting`.
"""

import argparse
from pathlib import Path

import numpy as np
from sklearn.model_selection import train_test_split

from benchmarks.bench_boosting import METHODS, boosted, load, supervised

COMPONENTS = (1, 2, 4, 8, 16, 32, 64, 256)
WIDTH, HEIGHT, LEFT, TOP, RIGHT, BOTTOM = 560, 320, 60, 20, 130, 45
COLOURS = {"boosted": "#0b6e4f", "ISRHT supervised": "#c1521f"}


def sweep(X, y, seeds):
    """Mean accuracy of each method at each number of components, and of all features."""
    curves, everything = {"boosted": {}, "ISRHT supervised": {}}, []
    for seed in seeds:
        X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.3, stratify=y, random_state=seed)

        def accuracy(method, seed=seed, train=(X_train, y_train), test=(X_test, y_test)):
            return 100 * np.mean(method(*train, seed)[0](test[0]) == test[1])

        everything.append(accuracy(METHODS["all features"]))
        for r in COMPONENTS:
            curves["boosted"].setdefault(r, []).append(accuracy(boosted(r)))
            curves["ISRHT supervised"].setdefault(r, []).append(accuracy(supervised(r)))
    means = {name: {r: float(np.mean(values)) for r, values in curve.items()} for name, curve in curves.items()}
    return means, float(np.mean(everything))


def draw(curves, everything, title):
    """An SVG of the curves over log2 of the number of components; the line is all features."""
    lowest = 5 * np.floor(min(min(curve.values()) for curve in curves.values()) / 5)
    across = np.log2(COMPONENTS[-1])

    def point(r, accuracy):
        x = LEFT + (WIDTH - LEFT - RIGHT) * np.log2(r) / across
        return x, TOP + (HEIGHT - TOP - BOTTOM) * (100 - accuracy) / (100 - lowest)

    def text(x, y, words, anchor="middle", colour="#333"):
        return f'<text x="{x:.0f}" y="{y:.0f}" text-anchor="{anchor}" fill="{colour}">{words}</text>'

    parts = [text(LEFT, 14, title, "start")]
    for accuracy in np.arange(lowest, 101, 5):
        y = point(1, accuracy)[1]
        parts.append(f'<path d="M{LEFT} {y:.1f}H{WIDTH - RIGHT}" stroke="#ddd"/>')
        parts.append(text(LEFT - 8, y + 4, f"{accuracy:.0f}", "end"))
    parts += [text(point(r, 0)[0], HEIGHT - BOTTOM + 18, r) for r in COMPONENTS]
    parts.append(text((LEFT + WIDTH - RIGHT) / 2, HEIGHT - 8, "components"))
    for name, curve in [*curves.items(), ("all features", {1: everything, COMPONENTS[-1]: everything})]:
        colour = COLOURS.get(name, "#777")
        places = [point(r, accuracy) for r, accuracy in curve.items()]
        line = " ".join(f"{x:.1f},{y:.1f}" for x, y in places)
        dashes = "" if name in COLOURS else ' stroke-dasharray="4 3"'
        parts.append(f'<polyline points="{line}" fill="none" stroke="{colour}" stroke-width="2"{dashes}/>')
    for row, name in enumerate([*curves, "all features"]):
        parts.append(text(WIDTH - RIGHT + 10, TOP + 20 + 18 * row, name, "start", COLOURS.get(name, "#777")))
    size = f'viewBox="0 0 {WIDTH} {HEIGHT}" font-family="sans-serif" font-size="12"'
    head = f'<svg xmlns="http://www.w3.org/2000/svg" {size}>'
    return "\n".join([head, f'<rect width="{WIDTH}" height="{HEIGHT}" fill="#fff"/>', *parts, "</svg>\n"])


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data")
    parser.add_argument("--set", default="digits")
    parser.add_argument("--splits", type=int, default=3)
    parser.add_argument("--out", type=Path, default=Path("docs/boosting.svg"))
    args = parser.parse_args()
    curves, everything = sweep(*load(args.set, args.data), range(1000, 1000 + args.splits))
    args.out.write_text(draw(curves, everything, f"{args.set}: test accuracy, %, mean of {args.splits} splits"))
    print(args.out, curves, everything)


if __name__ == "__main__":
    main()
