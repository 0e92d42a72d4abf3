"""What the programs of this folder share: their options, the look of the pictures, and where these go."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt  # noqa: E402

OURS, THEIRS, THIRD, GREY = "#0b6e99", "#d1603d", "#7a9e3f", "#777777"


def options(text: str | None) -> argparse.Namespace:
    """--small: less data, for tests; --out: the folder of the picture."""
    parser = argparse.ArgumentParser(description=text)
    parser.add_argument("--small", action="store_true", help="less data")
    parser.add_argument("--out", type=Path, default=Path(__file__).parent, help="folder of the picture")
    return parser.parse_args()


def axes(rows: int = 1, height: float = 4.2, **options: Any) -> Any:
    """A figure and its axes, below each other."""
    fig, found = plt.subplots(rows, 1, figsize=(7.2, height), layout="constrained", **options)
    for ax in fig.axes:
        ax.spines[["top", "right"]].set_visible(False)
        ax.grid(color="#e4e4e4", linewidth=0.8)
        ax.set_axisbelow(True)
    return fig, found


def save(fig: Any, program: str, folder: Path) -> None:
    """Write the picture of a program, named as the program."""
    path = folder / Path(program).with_suffix(".png").name
    fig.savefig(path, dpi=110, metadata={"Software": None})
    plt.close(fig)
    print(path)
