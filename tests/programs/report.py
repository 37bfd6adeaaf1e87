"""Runs report as a person would: one run, several, bad input. With a second argument, `browser`, opens pages in a headless browser instead."""
import html
import json
import re
import shutil
import subprocess
import sys
import tempfile
from html.parser import HTMLParser
from pathlib import Path

from checks import check, check_full, check_help, finish, refused, run, skip


class Tags(HTMLParser):
    """Counts elements, and which of them are left open."""

    def __init__(self):
        super().__init__()
        self.open, self.count, self.wrong = [], {}, []

    def handle_starttag(self, tag, attributes):
        self.count[tag] = self.count.get(tag, 0) + 1
        if tag != "meta":
            self.open.append(tag)

    def handle_startendtag(self, tag, attributes):
        self.count[tag] = self.count.get(tag, 0) + 1

    def handle_endtag(self, tag):
        if not self.open or self.open.pop() != tag:
            self.wrong.append(tag)


def tags_of(page):
    parser = Tags()
    parser.feed(page)
    return parser


def write_log(folder, steps, rate=0.001, end=""):
    """A training of so many steps, with a translation that improves."""
    folder.mkdir(parents=True)
    events = [{"event": "start", "step": 0, "device": "1 thread", "settings": {"rate": str(rate), "batch": "64"}}]
    for step in range(10, steps + 1, 10):
        events.append({"event": "step", "step": step, "loss": 4 / step + 1, "rate": rate, "tokens": 1000, "tokens_per_second": 500 + step % 30, "gradient_norm": 1 + step % 7})
        if step % 100 == 0:
            events.append({"event": "validation", "step": step, "loss": 5 / step + 1.5, "source_gain": step / 1000})
            events.append({"event": "samples", "step": step, "samples": [{"source": "ein <b>Haus</b>", "translation": f"house {step}", "reference": "a house"}]})
    events.append({"event": "test", "bleu": 31.5})
    (folder / "log.jsonl").write_text("".join(json.dumps(event) + "\n" for event in events) + end)


MAP = """<svg xmlns='http://www.w3.org/2000/svg' width='100' height='80' viewBox='0 0 100 80'><rect class='field' x='40' y='40' width='36' height='18'/>
<text transform='translate(50 30)rotate(-90)'>old</text><text transform='translate(70 30)rotate(-90)'>house</text><text x='30' y='50' text-anchor='end'>Haus</text>
<g class='cells'><path opacity='0.85' d='M58 40h18v18h-18z'/></g></svg>"""


PHONE = 390  # pixels

# The lowest WCAG contrast of the texts and curves with their background, and the text or the class of the curve.
CONTRAST = """
const rgb = colour => colour.match(/[\\d.]+/g).map(Number);
const luminance = colour => rgb(colour).slice(0, 3).map(c => (c /= 255) <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4)
  .reduce((sum, c, i) => sum + c * [0.2126, 0.7152, 0.0722][i], 0);
const background = element => {
  for (; element; element = element.parentElement) {
    const colour = getComputedStyle(element).backgroundColor;
    if (rgb(colour)[3] !== 0) return luminance(colour);
  }
  return NaN;
};
const contrast = (element, colour) => {
  const [dark, light] = [luminance(colour), background(element)].sort((a, b) => a - b);
  return (light + 0.05) / (dark + 0.05);
};
const worst = all => all.reduce((a, b) => a[0] < b[0] ? a : b).join(' ');
const texts = [...document.body.querySelectorAll('*:not(script, title)')].filter(one => [...one.childNodes].some(node => node.nodeType == 3 && node.data.trim()));
const curves = [...document.querySelectorAll('polyline')];
"""


def browser_checks(chromium, folder):
    """How pages look and react in a window as narrow as a phone's, light and dark."""

    def evaluate(page, script, scheme="light"):
        """The texts that a script at the end of a page puts into `words`. Chromium's own windows have at least 500 pixels, a frame has any width."""
        probe = page + f"<script>{{{script}; parent.document.documentElement.dataset.words = words.join(' ; ')}}</script>"
        file = folder / "probe.html"
        file.write_text(f'<!DOCTYPE html><meta charset="utf-8"><iframe width="{PHONE}" height="844" style="border:0" srcdoc="{html.escape(probe)}"></iframe>')
        result = subprocess.run([chromium, "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--hide-scrollbars", "--enable-logging=stderr", "--v=0",
                                 f"--user-data-dir={folder}/profile", *(["--force-dark-mode"] if scheme == "dark" else []), "--dump-dom", f"file://{file}"],
                                capture_output=True, text=True, timeout=120)
        if "</html>" not in result.stdout:
            sys.exit(f"the headless browser does not start: {result.stderr[-500:]}")
        errors = [line for line in result.stderr.splitlines() if "CONSOLE" in line]
        check(not errors, f"{scheme}: the browser reports no error {errors}")
        words = re.search(r'data-words="([^"]*)"', result.stdout)
        return html.unescape(words.group(1)).split(" ; ") if words else []

    write_log(folder / "one", 400)
    (folder / "one/maps").mkdir()
    (folder / "one/maps/0001.svg").write_text(MAP)
    check(run(folder / "one").returncode == 0, "a run gets a page")
    check_full("the path of the page", folder / "one")
    page = (folder / "one/report.html").read_text()
    words = evaluate(page, """
const plot = document.querySelector('svg.plot'), box = plot.getBoundingClientRect(), figure = plot.closest('figure');
const said = () => [figure.querySelector('.at'), ...figure.querySelectorAll('li b')].map(one => one.textContent).join(' | ');
const move = (kind, x) => plot.dispatchEvent(new PointerEvent(kind, {clientX: box.left + box.width * x, clientY: box.top + 50}));
const words = [said()];
move('pointermove', 0.5);
words.push(said());
move('pointerleave', 0.5);
words.push(said())""")
    check(words[:1] == ["last values | 1.010 | 1.512"], f"without a pointer the legend shows the last values: {words}")
    moved = re.fullmatch(r"step (\d+) \| ([\d.]+) \| ([\d.]+)", words[1] if words else "")
    check(moved and 150 < int(moved[1]) < 250 and abs(float(moved[2]) - 4 / int(moved[1]) - 1) < 1e-3,
          f"under the pointer the legend shows the values of that step: {words}")
    check(words[2:] == words[:1], "after the pointer leaves the legend shows the last values again")

    write_log(folder / "long", 200, 0.002)
    log = (folder / "long/log.jsonl").read_text()
    (folder / "long/log.jsonl").write_text(log.replace("0.002", "/a/long/path/of/one/word" * 8, 1).replace("house 100", "Donaudampfschifffahrt" * 12))
    check(run(folder / "one", folder / "long", "--output", folder / "both.html").returncode == 0, "two runs get a page")
    for name, shown in (("one run", page), ("two runs", (folder / "both.html").read_text())):
        for scheme in ("light", "dark"):
            words = evaluate(shown, CONTRAST + """
const words = [innerWidth, document.documentElement.scrollWidth, background(document.body) < 0.5 ? 'dark' : 'light',
  worst(texts.map(one => [contrast(one, getComputedStyle(one)[one.closest('svg') ? 'fill' : 'color']), one.textContent.slice(0, 50)])),
  worst(curves.map(one => [contrast(one, getComputedStyle(one).stroke), one.closest('[class]').getAttribute('class')]))]""", scheme)
            what = f"{name}, {scheme}, {PHONE} pixels wide"
            check(words[:1] == [str(PHONE)] and int(words[1]) <= PHONE, f"{what}: the page does not scroll sideways: {words[:2]}")
            check(words[2:3] == [scheme], f"{what}: the background is {words[2:3]}")
            check(words[3:] and float(words[3].split()[0]) >= 4.5, f"{what}: all texts have a contrast of at least 4.5: {words[3:4]}")
            check(words[4:] and float(words[4].split()[0]) >= 3, f"{what}: all curves have a contrast of at least 3: {words[4:]}")

    frame = html.unescape(re.search(r"srcdoc='([^']*)'", page).group(1))
    words = evaluate(frame, """
const at = svg.getBoundingClientRect(), words = [];
for (const x of [67, 49, 10]) {
  svg.dispatchEvent(new PointerEvent('pointermove', {clientX: at.left + x * at.width / 100, clientY: at.top + 49 * at.height / 80}));
  words.push(said.textContent);
}""")
    check(words == ["Haus looks at house: 0.85 of the darkest"] + 2 * ["Haus looks at old: nearly 0 of the darkest"],
          f"a map shows the cell under the pointer: {words}")


if sys.argv[2:] == ["browser"]:
    chromium = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if not chromium:
        skip("there is no Chromium: apt-get install chromium")
    else:
        with tempfile.TemporaryDirectory() as name:
            browser_checks(chromium, Path(name))
    finish()

with tempfile.TemporaryDirectory() as name:
    folder = Path(name)
    write_log(folder / "one", 400)
    result = run(folder / "one")
    check(result.returncode == 0 and f"written to {folder}/one/report.html" in result.stdout, f"a run gets a page {result.stderr}")
    page = (folder / "one/report.html").read_text()
    tags = tags_of(page)
    check(not tags.open and not tags.wrong, f"every element is closed {tags.open} {tags.wrong}")
    check(tags.count["svg"] == 6 and tags.count["script"] == 1, "the page has six plots and one script")
    check("31.50" in page and "house 400" in page and "ein &lt;b&gt;Haus" in page, "the page has BLEU and translations")
    check(not re.search(r"https?:|src=|href=|@import|url\(", page), "the page loads no external resources")

    write_log(folder / "two", 200, 0.002, '{"event":"step","st')
    result = run(folder / "one", folder / "two", "--output", folder / "both.html")
    both = (folder / "both.html").read_text()
    check(result.returncode == 0 and "2 runs side by side" in both and not tags_of(both).open, "two runs are shown side by side")
    check("two: log.jsonl has 1 line without an event" in both, "a truncated line is reported")
    differ = both[both.index("Settings that differ"):both.index("<details>")]
    check("0.001</td><td>0.002" in differ and "batch" not in differ, "differing settings are listed separately")

    (folder / "blank").mkdir()
    (folder / "blank/log.jsonl").write_text("")
    check(run(folder / "blank").returncode == 0 and "no training step yet" in (folder / "blank/report.html").read_text(),
          "a run without steps gets a page")
    (folder / "binary").mkdir()
    (folder / "binary/log.jsonl").write_bytes(bytes(range(256)) * 20)
    (folder / "binary/model.json").write_bytes(b"\xff{")
    check(run(folder / "binary").returncode == 0 and "model.json is damaged" in (folder / "binary/report.html").read_text(),
          "damaged files are reported")

    refused("no folder", says="folder")
    refused("a missing folder", folder / "nowhere", says="is not a folder. Name the folder of a run.")
    refused("a file", folder / "both.html", says="is not a folder")
    refused("a folder without a log", folder, says="has no log.jsonl")
    (folder / "loop").mkdir()
    (folder / "loop/log.jsonl").symlink_to("log.jsonl")
    refused("a symbolic link loop", folder / "loop", says="loop/log.jsonl: Too many levels of symbolic links")
    refused("one valid and one invalid folder", folder / "one", folder / "nowhere", says="nowhere is not a folder")
    check(run(folder / "one", "--output", folder / "new/pages/x.html").returncode == 0 and (folder / "new/pages/x.html").exists(),
          "the folder of the page is created")
    refused("a page inside a file", folder / "one", "--output", folder / "both.html/x.html", says="cannot create the folder")
    refused("a wrong option", folder / "one", "--outputs", "x", says="did you mean --output?")
    check("side by side" in check_help(), "--help shows how to compare runs")

finish()
