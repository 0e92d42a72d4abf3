"""The options of svm-scale; the letters and their texts are LIBSVM's."""

from __future__ import annotations

from svmtool.options import FILE, LAST, Option, number

REAL = number("a number")
OPTIONS = (
    Option("-l", "x scaling lower limit (default -1)", REAL, "lower", "lower", tried=("--lower", "--min")),
    Option("-u", "x scaling upper limit (default +1)", REAL, "upper", "upper", tried=("--upper", "--max")),
    Option("-y", "y scaling limits (default: no y scaling)", REAL, "y_lower y_upper", "y"),
    Option(
        "-s", "save scaling parameters to save_filename", FILE, "save_filename", "save", tried=("--save",)
    ),
    Option(
        "-r", "restore scaling parameters from restore_filename", FILE, "restore_filename", "restore",
        tried=("--restore",),
    ),
    *LAST,
)  # fmt: skip
