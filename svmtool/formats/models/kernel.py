"""Reads and writes LIBSVM's model files, byte for byte as LIBSVM 3.37 where 8 digits of a value are the value.

    svm_type WORD / kernel_type WORD / [degree D] / [gamma G] / [coef0 R] / nr_class K / total_sv N / rho R ... /
    [label L ...] / [probA A ...] / [probB B ...] / [prob_density_marks M ...] / [nr_sv N ...] / SV
    one line for each support vector: its coefficients, each `%.17g` and a blank, then its pairs `%d:%.8g` and a blank

LIBSVM cuts values to 8 digits, so that its file is another model than it has trained.  Here a value that 8 digits do
not give back has as many as do, up to 17, which LIBSVM reads: the certificate holds for the file.

svmtool's notes follow the support vectors in lines that start with `#`, which LIBSVM ignores.

Rejected here, though not by LIBSVM: what leaves its memory uninitialised or makes it read beyond the end (a missing
key, a list before `nr_class`, fewer lines than support vectors), contradictory counts, coefficients and pairs that are
no numbers or out of order, numbers that are not finite or beyond 32 bits, a negative degree, and anything after the
support vectors but notes.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain
from typing import Any

from svmtool.compiled.buffers import Buffer
from svmtool.errors import DataError, ModelError, clipped
from svmtool.formats.models.text import PADDING, ModelText, NotText, Scanner, load, notes_text, write_text
from svmtool.formats.source import END_OF_LINE, MAX_LINE
from svmtool.formats.svmlight.slow_line import BLANKS, parse_line
from svmtool.formats.svmlight.table import RawTable, joined_raw, parse_text
from svmtool.models.kernel import CLASSIFIER_TYPES, DENSITY_MARKS, SVM_TYPES, KernelModel
from svmtool.models.kernel_functions import NAMES, PRECOMPUTED, RBF, WITH_COEF0, WITH_DEGREE, WITH_GAMMA, Kernel
from svmtool.models.linear import NO_CLASSES, OVERFLOWN
from svmtool.numbers import WHOLE, format_numbers, parse_number, rows_text

TOO_SHORT = "ERROR: fscanf failed to read model"
KERNELS_WITH = {"degree": WITH_DEGREE, "gamma": WITH_GAMMA, "coef0": WITH_COEF0}  # the kernels that use a parameter


def parse(text: ModelText) -> KernelModel:
    """Parse a model's text into Buffers, without numpy unless it is large.

    Raises ModelError (LIBSVM's messages, see the module's docstring).
    """
    try:
        fields = _read_header(Scanner(text, TOO_SHORT))
        columns = max(1, fields["nr_class"] - 1)
        rows = _support_vectors(text, fields["total_sv"], columns)
        kind = NAMES.index(fields["kernel_type"])
        kernel = Kernel(kind, **{key: fields[key] for key, kinds in KERNELS_WITH.items() if kind in kinds})
        if kernel.kind == PRECOMPUTED:
            _check_serials(rows)
        notes = text.notes()
    except NotText:
        raise
    except ModelError as e:
        raise ModelError(f"{e}\ncan't open model file {text.path}") from None
    coef = Buffer("f8", rows.labels.size)
    n = fields["total_sv"]
    for m in range(columns):
        coef.items[m * n : (m + 1) * n] = rows.labels.items[m::columns] if n else coef.items[:0]
    return KernelModel(
        fields["svm_type"], kernel, fields.get("label"), fields["nr_class"], fields["rho"], coef, fields.get("nr_sv"),
        rows.indptr, rows.indices, rows.values, fields.get("probA"), fields.get("probB"),
        fields.get("prob_density_marks"), notes,
    )  # fmt: skip


def read(path: str) -> KernelModel:
    """Read a kernel model into numpy arrays; raises as `parse` does."""
    with load(path) as text:
        return of_text(text)


def of_text(text: ModelText) -> KernelModel:
    """`read` of a text that has been opened."""
    model = parse(text)
    for name in ("rho", "coef", "indptr", "indices", "values", "probA", "probB"):
        numbers = getattr(model, name)
        if numbers is not None:
            setattr(model, name, numbers.array())
    model.coef = model.coef.reshape(model.coef_rows, model.total_sv)
    return model


def _read_header(scan: Scanner) -> dict[str, Any]:
    """Read everything up to `SV` and its line end; ModelError with LIBSVM's messages."""
    fields: dict[str, Any] = {}
    while (key := scan.word("a keyword")) != "SV":
        if key == "svm_type":
            fields[key] = scan.word(key)
            if fields[key] not in SVM_TYPES:
                raise ModelError(f"unknown svm type.\n{TOO_SHORT}: [{fields[key]}]")
        elif key == "kernel_type":
            fields[key] = scan.word(key)
            if fields[key] not in NAMES:
                raise ModelError(f"unknown kernel function.\n{TOO_SHORT}: [{fields[key]}]")
        elif key in ("degree", "nr_class", "total_sv"):
            fields[key] = scan.integer(key)
        elif key in ("gamma", "coef0"):
            fields[key] = scan.real(key)
        elif key in ("rho", "label", "probA", "probB", "nr_sv"):
            if "nr_class" not in fields:
                raise ModelError(f"ERROR: {key} is before nr_class in the model")
            k = fields["nr_class"]
            pairs = k * (k - 1) // 2
            if key in ("label", "nr_sv"):
                fields[key] = scan.integers(key, k)
            elif pairs >= 2**31:
                raise ModelError(f"ERROR: nr_class: {k} classes have more pairs than fit into 32 bits")
            else:
                fields[key] = scan.reals(f"numbers after {key}", pairs)
        elif key == "prob_density_marks":
            fields[key] = tuple(scan.real(key) for _ in range(DENSITY_MARKS))
        else:
            raise ModelError(f"unknown text in model file: [{key}]\n{TOO_SHORT}")
    _check(fields)
    text = scan.text
    while not (behind := text.buffer.memory.find(END_OF_LINE, text.at, text.stop) + 1) and text.more():
        continue
    text.at = behind or text.stop
    return fields


def _check(fields: dict[str, Any]) -> None:
    """Reject invalid models that LIBSVM would accept; drop keys that do not belong to the model's type."""
    wanted = ["svm_type", "kernel_type", "nr_class", "total_sv", "rho"]
    classes = fields.get("svm_type") in CLASSIFIER_TYPES
    if classes:
        wanted += ["label", "nr_sv"]
    kind = NAMES.index(fields["kernel_type"]) if "kernel_type" in fields else -1
    wanted += [key for key, kinds in KERNELS_WITH.items() if kind in kinds]
    missing = [key for key in wanted if key not in fields]
    if missing:
        raise ModelError(f"ERROR: the model lacks {', '.join(missing)}")
    k, n = fields["nr_class"], fields["total_sv"]
    if k < 0 or n < 0:
        raise ModelError("ERROR: nr_class or total_sv of the model is negative")
    for key, kinds in (("gamma", (RBF,)), ("degree", WITH_DEGREE)):
        if kind in kinds and fields[key] < 0:
            raise ModelError(f"ERROR: {key} of the model is negative")
    if not classes:
        fields.pop("label", None), fields.pop("nr_sv", None)
        if k != 2:
            raise ModelError(f"ERROR: a model of {fields['svm_type']} has nr_class 2, not {k}")
        return
    if k == 0:
        raise ModelError(NO_CLASSES)
    if len(fields["label"]) != k or len(fields["nr_sv"]) != k or fields["rho"].size != k * (k - 1) // 2:
        raise ModelError(f"ERROR: nr_class occurs twice in the model, and label, nr_sv or rho do not match {k}")
    if min(fields["nr_sv"]) < 0 or sum(fields["nr_sv"]) != n:
        raise ModelError(f"ERROR: nr_sv of the model does not add up to total_sv, {n}")
    if k == 1 and n:
        raise ModelError(f"ERROR: a model of one class has no support vectors, not {n}")


def _support_vectors(text: ModelText, count: int, columns: int) -> RawTable:
    """Read `count` lines of the text; coefficients are stored as labels."""

    def slow_line(line: bytes, number: int, file: str) -> tuple[float | list[float], list[int], list[float]]:
        """Parse a line that the compiled loop rejects."""
        first = []
        for m in range(columns - 1):
            token, _, rest = line.lstrip(BLANKS).replace(b"\t", b" ").partition(b" ")
            try:
                first.append(parse_number(token))
                if first[m] - first[m] != 0:
                    raise ValueError
            except ValueError:
                seen = token[:40].decode("latin-1")
                reason = f"coefficient {m + 1} of {columns} is not a finite number"
                raise DataError(number, file, seen, reason) from None
            line = rest
        label, indices, values = parse_line(line, number, file, tiny=True, first_index=0, data=False)
        return ([*first, label] if first else label), indices, values

    parts, done = [], 0
    while done < count:
        n, end = _whole_lines(text, count - done)
        if not n and text.more(MAX_LINE):
            continue
        if not n:
            raise ModelError(f"{TOO_SHORT}: {count} support vectors expected, the file ends after {done}")
        size = end - text.at
        if 2 * columns * n > size + 1:  # before memory is allocated for them
            raise ModelError(f"{TOO_SHORT}: {columns} coefficients a support vector expected, the lines are too short")
        lines = Buffer("u1", size + 1 + PADDING)
        lines.items[:size] = text.buffer.items[text.at : end]
        if lines.items[size - 1] != END_OF_LINE[0]:
            lines.items[size] = END_OF_LINE[0]
            size += 1
        try:
            parts.append(parse_text(lines, size, text.path, slow_line, columns, 0, done, data=False))
        except DataError as e:
            token = f"token {clipped(e.token)!r}: " if e.token else ""
            raise ModelError(f"{TOO_SHORT}: support vector {e.line}: {token}{e.reason}") from None
        text.at, done = end, done + n
    return joined_raw(parts) if parts else RawTable(0, 0, columns, first_index=0)


def _whole_lines(text: ModelText, max_lines: int) -> tuple[int, int]:
    """Number of complete lines in the window, up to `max_lines`, and the position after them.

    The last line of the text may have no newline.
    """
    n, end = 0, text.at
    while n < max_lines and end < text.stop:
        behind = text.buffer.memory.find(END_OF_LINE, end, text.stop) + 1
        if not behind and not text.ended:
            break
        n, end = n + 1, behind or text.stop
    return n, end


def _check_serials(rows: RawTable) -> None:
    """Raise ModelError for support vectors of a precomputed kernel that are not `0:serial`."""
    for s in range(rows.indptr.size - 1):
        start, stop = rows.indptr.items[s : s + 2]
        number = rows.values.items[start] if stop - start == 1 and rows.indices.items[start] == -1 else 0
        if not 1 <= number < 2**31 or number != int(number):
            raise ModelError(
                f"{TOO_SHORT}: support vector {s + 1}: for a precomputed kernel it must be 0:number, a whole number"
            )


def header_text(model: KernelModel) -> str:
    """The lines of a model before its support vectors."""
    import numpy as np

    kernel = model.kernel
    parameters = {key: [getattr(kernel, key)] for key, kinds in KERNELS_WITH.items() if kernel.kind in kinds}
    lists = {
        **parameters, "nr_class": [model.nr_class], "total_sv": [model.total_sv], "rho": model.rho,
        "label": model.labels, "probA": model.probA, "probB": model.probB, "prob_density_marks": model.density_marks,
        "nr_sv": model.nr_sv,
    }  # fmt: skip
    lines = [f"svm_type {model.svm_type}", f"kernel_type {NAMES[kernel.kind]}"]
    for key, numbers in lists.items():
        if numbers is not None:
            lines.append(" ".join([key, *format_numbers(np.array(numbers, np.float64), 17).decode().split()]))
    return "\n".join([*lines, "SV", ""])


def write(path: str, model: KernelModel) -> None:
    """Write a KernelModel of numpy arrays atomically; ModelError if it contains a non-finite number."""
    write_text(path, text_of(model))


def text_of(model: KernelModel) -> Iterator[bytes]:
    """The text of a KernelModel of numpy arrays, in pieces; ModelError where it holds a number that is not finite."""
    _refuse_overflow(model)
    digits = 17 if model.kernel.kind == PRECOMPUTED else WHOLE  # serial numbers have no exponent
    front = model.coef.reshape(model.coef_rows, model.total_sv)
    rows = rows_text(front, model.indptr, model.indices, model.values, digits)
    return chain([header_text(model).encode()], rows, [notes_text(model.notes)])


def _refuse_overflow(model: KernelModel) -> None:
    """Raise ModelError for non-finite numbers."""
    import numpy as np

    kernel = model.kernel
    lists = model.rho, model.coef, model.values, model.probA, model.probB, model.density_marks
    numbers = [kernel.gamma, kernel.coef0, *(x for x in lists if x is not None)]
    if not all(np.all(np.isfinite(x)) for x in numbers):
        raise ModelError(OVERFLOWN)
