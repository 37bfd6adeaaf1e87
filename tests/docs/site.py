"""Builds the site, and opens it from disk in a headless browser: its search works, and nothing comes from the network."""
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
mkdocs = ROOT / "build/docs-venv/bin/mkdocs"
chromium = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
if not mkdocs.exists() or not chromium:
    print("skipped: needs chromium and", mkdocs, "from scripts/setup.sh docs")
    sys.exit(77)

with tempfile.TemporaryDirectory() as folder:
    subprocess.run([sys.executable, ROOT / "scripts/site_pages.py", ROOT / "build/site-pages"], check=True)
    subprocess.run([mkdocs, "build", "--quiet", "--strict", "--site-dir", f"{folder}/site"], cwd=ROOT, check=True,
                   env={**os.environ, "NO_MKDOCS_2_WARNING": "true"})
    wrong = []
    for page in Path(folder, "site").rglob("*.html"):
        text = page.read_text(encoding="utf-8")
        wrong += [f"{page.name} loads {url}" for url in re.findall(r'(?:src|<link[^>]*href)="?(https?:[^" >]*)', text)]
        wrong += [f"{page.name} has a formula that is not drawn: {formula}" for formula in re.findall(r'class="arithmatex">(.*)', text)]
    browse = [chromium, "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", f"--user-data-dir={folder}/profile"]
    shown = subprocess.run([*browse, "--virtual-time-budget=20000", "--dump-dom", f"file://{folder}/site/index.html?q=Linformer"],
                           capture_output=True, text=True, timeout=120).stdout
    found = re.search(r"(\d+) matching documents", shown)
    if not found or int(found[1]) < 10:
        wrong.append(f"the search finds {found[1] if found else 'nothing'}")
    sys.exit("\n".join(wrong) or 0)
