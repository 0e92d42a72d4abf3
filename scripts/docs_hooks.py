"""Hooks of mkdocs: pages from files of the repository's root, pages of examples, and search without a network."""

from __future__ import annotations

import ast
import os
import re
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from pathlib import Path

from mkdocs.exceptions import PluginError
from mkdocs.structure.files import File

ROOT = Path(__file__).resolve().parent.parent
EXAMPLES = sorted((ROOT / "docs" / "examples").glob("*.py"))
PAGES = {
    "ARCHITECTURE.md": "architecture.md",
    "CHANGELOG.md": "changelog.md",
    "CONTRIBUTING.md": "contributing.md",
    "EXPERIMENTS.md": "experiments.md",
    "RELEASING.md": "releasing.md",
    "SECURITY.md": "security.md",
}


def on_config(config):
    """Replace the script that the plugin `offline` would load from the network by a local one."""
    config.extra["polyfills"] = ["worker.js"]
    return config


@cache
def run(program: Path, source: str) -> tuple[str, bytes]:
    """What an example prints, and its picture; source: runs it again once it has changed."""
    with tempfile.TemporaryDirectory() as folder:
        asked = {**os.environ, "MPLBACKEND": "agg", "PYTHONPATH": str(ROOT)}
        done = subprocess.run([sys.executable, program], cwd=folder, env=asked, capture_output=True, text=True)
        if done.returncode or done.stderr:
            raise PluginError(f"{program.name} exits with status {done.returncode}:\n{done.stderr}")
        return done.stdout, Path(folder, program.stem).with_suffix(".png").read_bytes()


def page_of(program: Path, source: str, printed: str) -> str:
    """The page of an example: its docstring, what it prints, its picture, and the program."""
    title, _, text = (ast.get_docstring(ast.parse(source)) or "").partition("\n\n")
    code = source.partition('\n"""\n')[2].strip()
    return (
        f"# {title}\n\n{text}\n\n![{title}]({program.stem}.png)\n\n## Output\n\n```text\n{printed}```\n\n"
        f"## Program\n\n[{program.name}]({program.name}), below without its docstring:\n\n```python\n{code}\n```\n"
    )


def on_files(files, config):
    """Add the root's files and the examples, executed, as pages."""
    for name, page in PAGES.items():
        text = (ROOT / name).read_text(encoding="utf-8")
        files.append(File.generated(config, page, content=text.replace("](docs/", "](")))
    sources = [program.read_text(encoding="utf-8") for program in EXAMPLES]
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        results = list(pool.map(run, EXAMPLES, sources))
    for program, source, (printed, picture) in zip(EXAMPLES, sources, results, strict=True):
        at = f"examples/{program.stem}"
        files.append(File.generated(config, f"{at}.md", content=page_of(program, source, printed)))
        files.append(File.generated(config, f"{at}.png", content=picture))
    return files


def on_page_markdown(markdown, page, config, files):
    """Point links at those files to their pages, and show the list of examples as cards with their pictures."""
    for name, target in PAGES.items():
        for link in (f"](../{name}", f"]({name}"):
            markdown = markdown.replace(link, f"]({target}")
    if page.file.src_uri == "examples/README.md":
        text, _, programs = markdown.partition("\n- ")
        card = r"- [![\1](\2.png)](\2.md)\n\n    **[\1](\2.md)**: \3\n"
        cards = re.sub(r"^- \[(.*?)\]\((\w+)\.py\): (.*)$", card, f"- {programs}", flags=re.MULTILINE)
        markdown = f'{text}\n<div class="grid cards" markdown>\n{cards}\n</div>\n'
    return markdown
