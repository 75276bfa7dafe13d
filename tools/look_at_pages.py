"""Look at pages as readers do: in a real browser, narrow and wide, light and dark, and with axe-core for accessibility.

``python tools/look_at_pages.py SITE_OR_PAGE... --screenshots FOLDER`` opens every page (of a folder, all of them) at
400 and 1,400 pixels in both colour schemes. What is wrong is named, and makes it end with 1: an error in the console,
something wider than the window, a violation of WCAG level A or AA. It needs playwright, Chromium, and axe-core (``make
look`` installs them).
"""

from __future__ import annotations

import argparse
import functools
import http.server
import shutil
import sys
import threading
from pathlib import Path

from playwright.sync_api import sync_playwright

ROOT = Path(__file__).parents[1]
AXE = ROOT / "build" / "axe" / "node_modules" / "axe-core" / "axe.min.js"
WIDTHS, SCHEMES = (400, 1400), ("light", "dark")
SLOWEST = 300_000  # milliseconds for a page, on a machine that does other work, too
RULES = {"runOnly": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa"]}
WIDER = """() => {
  const wide = document.documentElement.clientWidth + 1;
  const moves = (one) => ["auto", "scroll"].includes(getComputedStyle(one).overflowX);
  const scrolls = (one) => one && (moves(one) || scrolls(one.parentElement));
  const hidden = (one) => one.closest("dialog, [hidden], .sr-only, mjx-assistive-mml, [class*=bd-sidebar]");
  const sticksOut = (one) => one.getClientRects().length && one.getBoundingClientRect().right > wide;
  return [...document.querySelectorAll("main *")]
    .filter((one) => sticksOut(one) && !hidden(one) && !scrolls(one.parentElement))
    .slice(0, 3).map((one) => one.outerHTML.slice(0, 160));
}"""


class Quiet(http.server.SimpleHTTPRequestHandler):
    """Serve files without a word."""

    def log_message(self, *_):
        pass


def served(folder):
    """Serve a folder on a free port of this machine, and return its address."""
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Quiet, directory=str(folder)))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return f"http://127.0.0.1:{server.server_port}"


def problems_of(page, address):
    """Open a page and yield what is wrong with it."""
    said = []
    page.on("console", lambda message: said.append(message.text) if message.type == "error" else None)
    page.on("pageerror", lambda error: said.append(str(error)))
    page.goto(address, wait_until="load")
    page.wait_for_timeout(400)  # formulas are set by a script
    yield from (f"console: {text}" for text in said)
    yield from (f"wider than the window: {text}" for text in page.evaluate(WIDER))
    page.add_script_tag(path=AXE)
    for violation in page.evaluate("(rules) => axe.run(document, rules)", RULES)["violations"]:
        where = "; ".join(" ".join(map(str, node["target"])) for node in violation["nodes"][:3])
        yield f"{violation['id']} ({violation['impact']}), {len(violation['nodes'])} times: {where}"


def pages_of(paths, only):
    """Yield (folder to serve, path within it) of every page; of folders those whose path has one of the given parts."""
    for path in map(Path, paths):
        if path.is_dir():
            for page in sorted(path.rglob("*.html")):
                inner = page.relative_to(path)
                if "_static" not in page.parts and (not only or any(part in inner.as_posix() for part in only)):
                    yield path, inner
        else:
            home = path.resolve().parent
            yield home.parent, Path(home.name, path.name)  # pictures are called by it: there is more than one index


def main(arguments):
    wanted = list(pages_of(arguments.paths, arguments.only))
    addresses = {folder: served(folder) for folder in {folder for folder, _ in wanted}}
    found = 0
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        for width in WIDTHS:
            for scheme in SCHEMES:
                context = browser.new_context(viewport={"width": width, "height": 900}, color_scheme=scheme)
                context.set_default_timeout(SLOWEST)
                for folder, path in wanted:
                    page = context.new_page()
                    for problem in problems_of(page, f"{addresses[folder]}/{path.as_posix()}"):
                        found += 1
                        print(f"{path} at {width}, {scheme}: {problem}", file=sys.stderr)
                    if arguments.screenshots:
                        name = f"{'-'.join(path.with_suffix('').parts)}-{width}-{scheme}.png"
                        page.screenshot(path=Path(arguments.screenshots) / name, full_page=arguments.whole)
                    page.close()
                context.close()
        browser.close()
    print(f"{len(wanted)} pages, {len(WIDTHS) * len(SCHEMES)} ways each: {found} problems")
    return 1 if found else 0


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("paths", nargs="+", help="pages, or folders of them")
    parser.add_argument("--only", nargs="*", help="only pages whose path has one of these in it")
    parser.add_argument("--screenshots", help="a folder to keep pictures in")
    parser.add_argument("--whole", action="store_true", help="pictures of whole pages, not only of what a window shows")
    sys.exit(main(parser.parse_args()))
