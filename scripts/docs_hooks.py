"""Hooks of mkdocs: pages from Markdown files of the repository's root, links to them, and search without a network."""

from __future__ import annotations

from pathlib import Path

from mkdocs.structure.files import File

ROOT = Path(__file__).resolve().parent.parent
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


def on_files(files, config):
    """Add the root's files as pages."""
    for name, page in PAGES.items():
        text = (ROOT / name).read_text(encoding="utf-8")
        files.append(File.generated(config, page, content=text.replace("](docs/", "](")))
    return files


def on_page_markdown(markdown, page, config, files):
    """Point links at those files to their pages."""
    for name, target in PAGES.items():
        for link in (f"](../{name}", f"]({name}"):
            markdown = markdown.replace(link, f"]({target}")
    return markdown
