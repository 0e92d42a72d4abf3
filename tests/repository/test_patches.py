"""Tests choose a solver's method by data or arguments; they do not patch the constants that choose it."""

from __future__ import annotations

import ast
import re
from pathlib import Path

from conftest import REPOSITORY

WINGS = "certify coordinate data formats kernels linalg models objectives scaling solvers training".split()
ALLOWED = {  # constant: why tests may patch it; what is patched no more must leave this list
    "data.row_storage.BLOCK_WORK": "size of a block",
    "data.row_storage.GRAM_PIECE_PAIRS": "size of a block",
    "data.row_storage.PIECE_NONZEROS": "size of a piece of rows on disk",
    "linalg.columns.BLOCK_WORK": "size of a block",
    "data.mapped_arrays.MAX_ORDINARY_BYTES": "commands put the arrays of small files on disk",
    "data.mapped_arrays.MAX_RESERVE_BYTES": "commands release pages at every check: the memory of tests is never short",
    "data.mapped_arrays.RESERVE_SHARE": "as MAX_RESERVE_BYTES",
    "formats.rowcache.folder.ROW_BYTES_PER_TEXT_BYTE": "commands put the rows of small files on disk",
    "formats.svmlight.table.MAX_LINE": "limit of a line's length",
    "formats.models.text.PART_BYTES": "size of a block",
    "formats.models.text.WINDOW_BYTES": "size of a block",
    "models.weights.PACKED_FROM": "small models are stored as large ones are",
    "models.weights.PIECE_VALUES": "size of a block",
    "models.weights.STORED_FROM": "weights of small problems wait in a file as those of large ones do",
    "formats.scored_text.GROUP_BLOCKS": "blocks that are scored together",
    "formats.scored_text.SCORED_BYTES": "size of a block",
    "formats.source.READ_BYTES": "size of a block",
    "formats.svmlight.table.BLOCK_BYTES": "size of a block",
    "formats.svmlight.table.STREAM_BLOCK_BYTES": "size of a block",
    "scaling.rescale.BUFFER_BYTES": "size of the output's buffer",
    "scaling.rescale.PIECE_PAIRS": "size of a block",
    "training.lines.FIRST_SECONDS": "no lines by the clock, which differ from run to run",
    "kernels.decomposition.SET_SIZE": "size of a working set: small problems take several",
    "formats.models.kernel.WHOLE": "writes too few digits, which fuzzing must find",
}


def modules_of(tree: ast.AST) -> dict[str, str]:
    """The full name of what each name that a file imports from svmtool means in it."""
    found = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom):
            found |= {name.asname or name.name: f"{node.module}.{name.name}" for name in node.names}
        elif isinstance(node, ast.Import):
            found |= {name.asname: name.name for name in node.names if name.asname}
    return {short: name for short, name in found.items() if name.startswith("svmtool.")}


def patched(path: Path) -> set[str]:
    """The attributes of svmtool that a test file replaces by their full names, ? for a name that is a variable."""
    text = path.read_text()
    if not re.search(r"setattr|\.\w+ = ", text):
        return set()
    tree = ast.parse(text)
    modules, found = modules_of(tree), set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and getattr(node.func, "attr", getattr(node.func, "id", "")) == "setattr":
            place, *rest = [arg.value if isinstance(arg, ast.Constant) else arg for arg in node.args]
            if isinstance(place, str) and place.startswith("svmtool."):
                found.add(place)
            elif isinstance(place, ast.Name) and place.id in modules:
                found.add(f"{modules[place.id]}.{rest[0] if isinstance(rest[0], str) else '?'}")
        elif isinstance(node, ast.Assign):
            for target in node.targets:
                if isinstance(target, ast.Attribute) and isinstance(target.value, ast.Name):
                    found |= {f"{modules[name]}.{target.attr}" for name in [target.value.id] if name in modules}
    return found


def steers(name: str) -> bool:
    """Whether this is a constant of a wing that computes, or may be one; what a class has are methods."""
    *owners, last = name.split(".")
    is_constant = last.upper() == last and (last != "?" or owners[-1].lower() == owners[-1])
    return is_constant and len(owners) > 1 and owners[1] in WINGS


def test_no_test_patches_what_chooses_a_method():
    found = {}
    for path in sorted((REPOSITORY / "tests").rglob("*.py")):
        for name in filter(steers, patched(path)):
            found.setdefault(name.removeprefix("svmtool."), []).append(path.name)
    others = {name: files for name, files in found.items() if name not in ALLOWED}
    assert not others, f"take data, method= or an argument instead of patching: {others}"
    assert not set(ALLOWED) - set(found), "no test patches these any more: take them off the list"
