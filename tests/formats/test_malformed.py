"""Valid and malformed lines, and that the compiled loop agrees with the slow parser."""

from __future__ import annotations

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from reading import blocks, rows_in

from svmtool.errors import DataError
from svmtool.formats.svmlight import additions
from svmtool.formats.svmlight import table as svmlight
from svmtool.formats.svmlight.slow_line import parse_line

TAKEN = [
    (b"1 1:2", (1.0, {1: 2.0})),
    (b"  1\t1:2 \t 3:4 ", (1.0, {1: 2.0, 3: 4.0})),
    (b"1 1:2 \r", (1.0, {1: 2.0})),
    (b"1 +1:1 02:+3", (1.0, {1: 1.0, 2: 3.0})),
    (b"1.9 1:.5", (1.9, {1: 0.5})),
    (b"1e-400 1:1", (0.0, {1: 1.0})),
    (b"1 2147483647:1", (1.0, {2147483647: 1.0})),
]

REFUSED = [
    (b"-1\r", "-1\\r", "carriage return"),
    (b"", "", "line is empty"),
    (b"# comment", "#", "label is not a number"),
    (b"1,2 1:1", "1,2", "a row has one label"),
    (b"\xef\xbb\xbf1 1:2", "\\ufeff1", "label is not a number"),
    (b"1:1 2:1", "1:1", "label is missing"),
    (b"nan 1:1", "nan", "label is not finite"),
    (b"1 1", "1", "no colon"),
    (b"1 :5", ":5", "index is missing"),
    (b"1 qid:1 1:2", "qid:1", "index is not a whole number"),
    (b"1 0:1", "0:1", "indices start at 1"),
    (b"1 2:1 1:1", "1:1", "must ascend"),
    (b"1 9223372036854775809:1", "9223372036854775809:1", "exceeds 2147483647"),
    (b"1 1:", "1:", "value is missing"),
    (b"1 1:2\f", "1:2\\x0c", "value is not a number"),
    (b"1 1:2\r1 1:3\r", "1:2\\r1", "value is not a number"),
    (b"1 1:2\0 2:3", "1:2\\x00", "value is not a number"),
    (b"1 1:nan", "1:nan", "value is not finite"),
    (b"1 1:1e-310", "1:1e-310", "too close to zero"),
    (b"1 1:0.00e0 2:0x1p-1080", "2:0x1p-1080", "too close to zero"),
]  # fmt: skip


@pytest.mark.parametrize("line, row", TAKEN)
def test_odd_but_valid_lines_are_read(tmp_path, line, row):
    for text, rows in ((line, [row]), (line + b"\n" + line + b"\n", [row, row])):
        (tmp_path / "d").write_bytes(text)
        assert rows_in(svmlight.read(str(tmp_path / "d"))) == rows
    label, indices, values = parse_line(line, 1, "d")
    assert (label, dict(zip(indices, values, strict=True))) == row


@pytest.mark.parametrize("line, token, reason", REFUSED)
@pytest.mark.parametrize("before", [0, 3])
def test_refused(tmp_path, line, token, reason, before, as_the_originals):
    path = tmp_path / "d"
    path.write_bytes(b"1 1:2\n" * before + line + b"\n")
    for attempt in (svmlight.read, lambda p: list(blocks(p, 64))):
        with pytest.raises(DataError) as caught:
            attempt(str(path))
        text = str(caught.value)
        assert text.startswith(f"Wrong input format at line {before + 1}: {path}: ")
        assert reason in text and (not token or f"token '{token}'" in text or f'token "{token}"' in text)
        assert caught.value.exit_code == 1


pieces = st.sampled_from(
    [b"1", b"0", b"7", b"12", b"99999999", b".", b"-", b"+", b"e", b"E5", b":", b":", b" ", b" ", b"\t", b"\r", b"\f",
     b"\0", b"x", b"0x", b"nan", b"inf", b"#", b",", b"1:2", b" 3:0.5", b" 4:-1e-3", b"1 ", b"123456789012345678901",
     b"e-400"]
)  # fmt: skip


@settings(deadline=None, max_examples=80)
@given(st.lists(pieces, max_size=10).map(b"".join))
@example(b"1 1:0.12345678901234567890e1\r")
@example(b"1 12345678:1")
def test_the_compiled_loop_and_the_full_grammar_agree(tmp_path_factory, line):
    """For any line the loop gives the result of the full grammar, or leaves it to the slow parser."""
    if b"#" in line or not line.strip(additions.SPACE):  # tests/formats/test_additions.py
        return
    path = tmp_path_factory.getbasetemp() / "line"
    path.write_bytes(line + b"\n")
    try:
        label, indices, values = parse_line(line, 1, str(path))
    except DataError as e:
        with pytest.raises(DataError) as caught:
            svmlight.read(str(path))
        assert str(caught.value) == str(e)
    else:
        ours = rows_in(svmlight.read(str(path)))
        assert repr(ours) == repr([(label, dict(zip(indices, values, strict=True)))])
