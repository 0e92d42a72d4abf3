"""Names that a file holds, of any characters, where they are shown: a terminal, C source, JSON, HTML, predictions."""

from __future__ import annotations

import json
import re

from svmtool.formats import names as names_file

PIECES = (
    "a", "Z", " ", "*", "/", "\\", "?", "<", ">", "&", '"', "'", "{", "}", "%s", "\x00", "\x07", "\x1b[2J", "\x7f",
    "\x9b", "\n", "\r", "\t", "\u202e", "\u2066", "\u2028", "\ufeff", "é", "年", "\xa0", "\u200d", "😀",
    "</script>", "?/",
)  # fmt: skip
MODEL = "solver_type L2R_LR\nnr_class 2\nlabel 1 2\nnr_feature 3\nbias -1\nw\n1\n-2\n3\n"
CALM = "\xa0\u200d"


def is_calm(text: str) -> bool:
    return all(c.isprintable() or c in CALM + "\n" for c in text)


def test_every_place_that_shows_names(command, tmp_path):
    (tmp_path / "m").write_text(MODEL)
    (tmp_path / "d").write_text("1 1:1\n2 2:1\n1 3:1\n")
    some = ["".join(PIECES[k::5]) for k in range(5)]
    names = names_file.Names(tuple(some[:3]), {1: some[3], 2: some[4]}, "y", {})
    names_file.write(str(tmp_path / "n"), names)
    shown = command("inspect", "--names", "n", "m")
    metrics = command("predict", "--metrics", "--names", "n", "d", "m", "out")
    c, text = command("export", "--c", "--names", "n", "m"), command("export", "--json", "--names", "n", "m")
    page = command("report", "--names", "n", "m", "d", "-o", "page.html")
    for done in (shown, metrics, c, text, page):
        assert done.returncode == 0 and is_calm((done.stdout + done.stderr).decode()), done
    assert len(shown.stdout.splitlines()) == len(command("inspect", "m").stdout.splitlines()) - 2
    out = (tmp_path / "out").read_text()
    assert is_calm(out) and out.count("\n") == 3
    found = json.loads(text.stdout)
    assert found["feature_names"] == some[:3] and found["label_names"] == some[3:]
    html = (tmp_path / "page.html").read_text()
    assert is_calm(html) and not re.search(r"<(script|a)\b", html)
