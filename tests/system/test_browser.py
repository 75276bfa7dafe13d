"""The page in a real browser: no console errors, tables sort, figures have their points, nothing wider than a phone.

The tests need Chromium (Debian: ``apt-get install chromium``) and are skipped without it. ``ISRHT_SCREENSHOTS`` names a
folder to keep the screenshots in.
"""

import html
import json
import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest
from sample_records import write_journal

from isrht.report._figures import all_figures
from isrht.report.aggregate import Records
from isrht.report.write import write_report

BROWSER = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
pytestmark = pytest.mark.skipif(BROWSER is None, reason="no Chromium here: apt-get install chromium")

FLAGS = (
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-sync",
    "--disable-background-networking", "--disable-component-update", "--hide-scrollbars", "--enable-logging=stderr",
    "--virtual-time-budget=3000",
)  # fmt: skip

# ``make look`` brings axe-core. Levels A and AA of WCAG are what is asked for.
AXE = Path(os.environ.get("ISRHT_AXE") or Path(__file__).parents[2] / "build/axe/node_modules/axe-core/axe.min.js")
JUDGE = """
<script>
axe.run(document, { runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa"] }).then(({ violations }) => {
  const found = violations.map((one) => [one.id, one.nodes.map((node) => node.target.join(" ")).slice(0, 3)]);
  document.body.dataset.result = JSON.stringify(found);
});
</script>
"""

LISTEN = "<script>window.problems = []; window.onerror = (message) => problems.push(String(message));</script>"

# This script does what a reader does, and leaves what it saw in the document.
USE = """
<script>
const result = {};
const table = document.querySelector("#results-mushrooms table");
const values = (column) => [...table.tBodies[0].rows].map((row) => row.cells[column].dataset.value);
const click = (column) => table.tHead.rows[0].cells[column].querySelector("button").click();
result.columns = [...table.tHead.rows[0].cells].map((cell) => cell.textContent);
click(2); result.ascending = values(2);
click(2); result.descending = values(2);
click(0); result.names = values(0);
result.sorted = table.tHead.rows[0].cells[0].getAttribute("aria-sort");
result.points = {};
for (const figure of document.querySelectorAll("figure.charts")) {
  const inside = [...figure.querySelectorAll("svg.chart .pt")].filter((point) => {
    const box = point.getBoundingClientRect(), frame = point.ownerSVGElement.getBoundingClientRect();
    const across = box.left >= frame.left && box.right <= frame.right;
    return box.width > 0 && across && box.top >= frame.top && box.bottom <= frame.bottom;
  });
  result.points[figure.id] = inside.length;
}
const point = document.querySelector("#figure-2 svg.chart .pt");
const place = point.getBoundingClientRect();
point.dispatchEvent(new PointerEvent("pointermove", { bubbles: true, clientX: place.left, clientY: place.top }));
result.tip = [document.getElementById("tip").style.display, document.getElementById("tip").textContent];
const button = document.querySelector('#figure-2 .legend button[data-series="SRHT"]');
const parts = [...document.querySelectorAll('#figure-2 svg.chart [data-series="SRHT"]')];
const shown = () => parts.filter((part) => getComputedStyle(part).display !== "none").length;
result.before = shown(); button.click(); result.after = shown(); button.click(); result.again = shown();
document.querySelector('#results-mushrooms td[data-group="mushrooms|SRHT|16|paper"]').click();
result.behind = document.querySelectorAll("#behind tbody tr").length;
document.getElementById("behind").close();
result.width = [document.documentElement.scrollWidth, window.innerWidth];
async function starts(figure, kind) {
  const blob = await fileOf(figure, kind);
  return [kind, new TextDecoder("latin1").decode(await blob.slice(0, 5).arrayBuffer()), blob.size];
}
const figure = document.querySelector("#figure-2");
result.hidden = [...document.querySelectorAll(".save")].filter((line) => line.hidden).length;
Promise.all(["svg", "png", "pdf"].map((kind) => starts(figure, kind))).then((saved) => {
  result.saved = saved;
  result.problems = problems;
  document.body.dataset.result = JSON.stringify(result);
  if (window.parent !== window) window.parent.postMessage(result, "*");
});
</script>
"""

PHONE = """<!DOCTYPE html><meta charset="utf-8"><body style="margin:0">
<iframe width="390" height="800" style="border:0" srcdoc="{page}"></iframe>
<script>
window.addEventListener("message", (event) => {{ document.body.dataset.result = JSON.stringify(event.data); }});
</script>"""


@pytest.fixture(scope="module")
def report(tmp_path_factory):
    folder = tmp_path_factory.mktemp("page")
    journal = write_journal(folder / "journal")
    return write_report(journal.path, folder)["index.html"], Records(journal.read().records)


def browse(path, *flags):
    """Open a file in a browser that has a fresh profile, and return the document and the console."""
    profile = path.parent / f"profile-{len(list(path.parent.iterdir()))}"
    done = subprocess.run(
        [BROWSER, *FLAGS, f"--user-data-dir={profile}", *flags, path.as_uri()],
        capture_output=True,
        text=True,
        timeout=120,
    )
    shutil.rmtree(profile, ignore_errors=True)
    return done.stdout, [line for line in done.stderr.splitlines() if "CONSOLE" in line]


def used(page):
    return page.replace("<head>", f"<head>{LISTEN}", 1).replace("</body>", f"{USE}</body>", 1)


def dumped(path, *flags):
    """Return the document after its scripts have run, and what they said: on a busy machine they may be late."""
    for _ in range(5):
        document, console = browse(path, *flags, "--dump-dom")
        if 'data-result="' in document:
            break
    return document, console


def result_of(document):
    return json.loads(html.unescape(re.search(r'data-result="([^"]*)"', document).group(1)))


def test_a_reader_can_use_the_page(report):
    path, records = report
    copy = path.with_name("used.html")
    copy.write_text(used(path.read_text(encoding="utf-8")), encoding="utf-8")
    document, console = dumped(copy, "--window-size=1280,900")
    result = result_of(document)
    assert console == []
    assert result["problems"] == []
    assert result["columns"][:3] == ["method", "published", "accuracy (C by CV)"]
    numbers = [float(value) for value in result["ascending"]]
    assert numbers == sorted(numbers)
    assert [float(value) for value in result["descending"]] == numbers[::-1]
    assert result["names"][0] == "Achlioptas"
    assert result["sorted"] == "ascending"
    expected = {figure.name: figure.html().count("<title>") for figure in all_figures(records)}
    assert result["points"] == expected
    assert result["tip"][0] == "block"
    assert "digits" in result["tip"][1]
    assert result["before"] == result["again"] > 0 == result["after"]
    assert result["behind"] == 3
    assert result["width"][0] <= result["width"][1]
    assert result["hidden"] == 0
    assert [start[1:4] for _, start, _ in result["saved"]] == ["svg", "PNG", "PDF"]
    assert all(size > 10_000 for _, _, size in result["saved"])


@pytest.mark.skipif(not AXE.is_file(), reason="no axe-core here: npm install --prefix build/axe axe-core")
@pytest.mark.parametrize("scheme", [1, 0], ids=["light", "dark"])
def test_the_page_is_accessible(scheme, report):
    path, _ = report
    copy = path.with_name(f"accessible-{scheme}.html")
    script = f"<script>{AXE.read_text(encoding='utf-8')}</script>{JUDGE}"
    copy.write_text(path.read_text(encoding="utf-8").replace("</body>", f"{script}</body>", 1), encoding="utf-8")
    document, _ = browse(copy, "--dump-dom", f"--blink-settings=preferredColorScheme={scheme}")
    assert result_of(document) == []


def test_nothing_is_wider_than_a_phone(report):
    path, _ = report
    phone = path.with_name("phone.html")
    phone.write_text(PHONE.format(page=html.escape(used(path.read_text(encoding="utf-8")))), encoding="utf-8")
    document, console = dumped(phone, "--window-size=600,900")
    result = result_of(document)
    assert console == []
    assert result["width"][1] == 390
    assert result["width"][0] <= 390


@pytest.mark.parametrize("size", ["1280,2400", "500,2400"])
def test_screenshots_light_and_dark(size, report):
    path, _ = report
    folder = Path(os.environ.get("ISRHT_SCREENSHOTS") or path.parent)
    images = []
    for scheme in (1, 0):
        image = folder / f"page-{size.partition(',')[0]}-{'light' if scheme else 'dark'}.png"
        browse(
            path, f"--window-size={size}", f"--blink-settings=preferredColorScheme={scheme}", f"--screenshot={image}"
        )
        images.append(image.read_bytes())
    assert all(image.startswith(b"\x89PNG") and len(image) > 20_000 for image in images)
    assert images[0] != images[1]
