"""The history of speed: the headline ratios of the last commits, kept in a file and shown on a page.

``make history`` measures the last ten commits; ``make bench-compare BASE=main`` measures this commit against another
one, as the CI does it for pull requests. Every commit is built from its own sources into a folder of its own (commits
that changed no kernels share those) and measured in processes of its own, in turns with the others, several times. The
median counts: a ratio errs both ways.

asv is not used: it keeps seconds, of one commit after the other, which on a machine that is shared tell more of the
neighbours than of the commit, and it makes an environment with all dependencies for every commit. What is wanted is a
ratio to a yardstick of the same minute, which takes this page of code.
"""

import argparse
import hashlib
import json
import os
import platform
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path
from statistics import median

ROOT = Path(__file__).parents[1]
WORK = ROOT / "build" / "history"
RECORDS = ROOT / "benchmarks" / "results" / "history.jsonl"
PAGE = ROOT / "docs" / "speed-history.md"
HEADLINE = ROOT / "benchmarks" / "headline.py"
TURNS = 3
# A ratio that is larger than the median of those before it by this factor is marked.
SLOWER = 1.15


def git(*arguments):
    return subprocess.run(["git", *arguments], cwd=ROOT, check=True, capture_output=True, text=True).stdout.strip()


def last_commits(count):
    """Return the last commits that changed what is measured, the oldest first."""
    return git("rev-list", "--first-parent", f"--max-count={count}", "HEAD", "--", "src", "core").split()[::-1]


def installed(commit):
    """Return a folder with the package as it was at a commit, which is made unless that was done before."""
    place = WORK / "builds" / commit
    if not place.exists():
        unfinished = WORK / "unfinished"
        shutil.rmtree(unfinished, ignore_errors=True)
        _unpack(commit, unfinished, "src/isrht")
        for path in compiled(commit):
            shutil.copy(path, unfinished / "src" / path.relative_to(_kernels_of(commit)))
        place.parent.mkdir(exist_ok=True)
        (unfinished / "src").rename(place)
    return place


def compiled(commit):
    """Return the files of the kernels of a commit. Commits with the same sources of kernels share them."""
    place = _kernels_of(commit)
    if not place.exists():
        sources, unfinished = WORK / "sources", WORK / "unfinished-kernels"
        for folder in (sources, unfinished):
            shutil.rmtree(folder, ignore_errors=True)
        _unpack(commit, sources)
        command = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--target", str(unfinished)]
        subprocess.run([*command, str(sources)], check=True)
        place.parent.mkdir(exist_ok=True)
        unfinished.rename(place)
    found = [path for path in place.glob("isrht/**/_core*") if path.suffix in (".so", ".pyd")]
    if not found:
        raise SystemExit(f"{commit} was built without its kernels")
    return found


def _kernels_of(commit):
    project = tomllib.loads(git("show", f"{commit}:pyproject.toml"))
    settings = json.dumps([project["build-system"], project["tool"]["scikit-build"]])
    sources = git("ls-tree", commit, "core", "CMakeLists.txt") + settings
    return WORK / "kernels" / hashlib.sha256(sources.encode()).hexdigest()[:16]


def _unpack(commit, folder, *paths):
    folder.mkdir(parents=True)
    archive = subprocess.run(["git", "archive", commit, *paths], cwd=ROOT, stdout=subprocess.PIPE, check=True)
    subprocess.run(["tar", "x"], cwd=folder, input=archive.stdout, check=True)


def measured(commits, turns=TURNS, only=()):
    """Return the ratios of every commit: the median of several turns, in which all commits take part."""
    places = {commit: installed(commit) for commit in commits}
    found = {commit: {} for commit in commits}
    for _ in range(turns):
        for commit, place in places.items():
            for name, ratio in _run(place, only).items():
                found[commit].setdefault(name, []).append(ratio)
    return {commit: {name: median(all) for name, all in ratios.items()} for commit, ratios in found.items()}


def _run(place, only):
    variables = {"PYTHONPATH": str(place), "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    command = [sys.executable, str(HEADLINE), *only]
    done = subprocess.run(command, env=os.environ | variables, cwd=WORK, capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


def record(commit, ratios, turns):
    """Return what is kept of a commit."""
    day, subject = git("show", "--no-patch", "--format=%cs%x00%s", commit).split("\0")
    rounded = {name: float(f"{ratio:.3g}") for name, ratio in ratios.items()}
    return {"commit": commit, "day": day, "subject": subject, "machine": machine(), "turns": turns, "ratios": rounded}


def machine():
    """Return the processor: ratios of two processors are not compared."""
    cpuinfo = Path("/proc/cpuinfo")
    lines = cpuinfo.read_text().splitlines() if cpuinfo.exists() else []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor() or platform.machine()


def known():
    return [json.loads(line) for line in RECORDS.read_text().splitlines()] if RECORDS.exists() else []


def page(records):
    """Return the text of the page: one table for each machine, the newest commit last."""
    headlines = _descriptions()
    lines = [
        "# The history of speed",
        "",
        "How long the package takes for what users do most, in units of a yardstick that is timed in turns with it:",
        "less is better. `make history` measures new commits. A ratio is marked where it is more than",
        f"{SLOWER} times the median of the commits before it, and is the median of {TURNS} turns or more.",
        "A single turn, shown in brackets, errs by up to a factor of two on a machine that is shared, as commits",
        "show that changed only words.",
        "",
        "| name | what is timed |",
        "|---|---|",
        *(f"| {name.replace('_', ' ')} | {text} |" for name, text in headlines.items()),
        "",
    ]
    for place in dict.fromkeys(entry["machine"] for entry in records):
        lines += [f"## {place}, one thread", "", *_table([e for e in records if e["machine"] == place], headlines), ""]
    return "\n".join(lines)


def _table(records, headlines):
    rows = ["| commit | " + " | ".join(name.replace("_", " ") for name in headlines) + " |"]
    rows += ["|---|" + "---:|" * len(headlines)]
    for number, entry in enumerate(records):
        cells = [f"{entry['day']} `{entry['commit'][:9]}` {entry['subject'].replace('|', '/')}"]
        for name in headlines:
            before = [e["ratios"][name] for e in records[:number] if name in e["ratios"]]
            cell = _cell(entry["ratios"].get(name), before)
            single = entry.get("turns", TURNS) < TURNS and name in entry["ratios"]
            cells.append(f"({entry['ratios'][name]:.3g})" if single else cell)
        rows.append("| " + " | ".join(cells) + " |")
    return rows


def _cell(ratio, before):
    if ratio is None:
        return ""
    usual = median(before) if before else ratio
    return f"**{ratio:.3g} (slower)**" if ratio > SLOWER * usual else f"{ratio:.3g}"


def _descriptions():
    sys.path.insert(0, str(ROOT))
    from benchmarks.headline import HEADLINES

    return {headline.__name__: headline.__doc__.strip() for headline in HEADLINES}


def compare(base, turns):
    """Write how this commit compares with another one, and print it."""
    head, base = git("rev-parse", "HEAD"), git("rev-parse", base)
    ratios = measured([base, head], turns)
    lines = [f"Ratios of `{head[:9]}` and of `{base[:9]}`, in turns in one run; less is better.", ""]
    lines += ["| | before | now | now / before |", "|---|---:|---:|---:|"]
    for name in ratios[head]:
        before, now = ratios[base].get(name), ratios[head][name]
        change = "" if before is None else f"{now / before:.2f}"
        lines.append(f"| {name.replace('_', ' ')} | {before or 0:.3g} | {now:.3g} | {change} |")
    (WORK / "comparison.md").write_text("\n".join(lines) + "\n")
    print("\n".join(lines))


def main():
    """Measure the commits that are not known yet and write the page, or compare two commits."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--commits", type=int, default=10, help="how many of the last commits to measure (10)")
    parser.add_argument("--base", help="compare HEAD with this commit instead")
    parser.add_argument("--turns", type=int, default=TURNS)
    parser.add_argument("--build-only", action="store_true", help="build the commits and measure nothing")
    options = parser.parse_args()
    WORK.mkdir(parents=True, exist_ok=True)
    if options.base:
        return compare(options.base, options.turns)
    enough = min(options.turns, TURNS)  # what was measured in fewer turns is not worth keeping any more
    kept = [entry for entry in known() if entry["turns"] >= enough]
    done = {entry["commit"] for entry in kept if entry["machine"] == machine()}
    commits = [commit for commit in last_commits(options.commits) if commit not in done]
    if options.build_only:
        return [installed(commit) for commit in commits]
    ratios = measured(commits, options.turns)
    records = kept + [record(commit, ratios[commit], options.turns) for commit in commits]
    RECORDS.write_text("".join(json.dumps(entry) + "\n" for entry in records))
    PAGE.write_text(page(records))


if __name__ == "__main__":
    main()
