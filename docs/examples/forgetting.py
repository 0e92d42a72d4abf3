"""Adding and forgetting rows day by day: AdaptableLSSVC where the classes move slowly."""

from __future__ import annotations

import numpy as np
from drawing import GREY, OURS, THEIRS, axes, options, save

from svmtool.sklearn import AdaptableLSSVC

FEATURES, WINDOW = 20, 10  # days that the forgetting model keeps


def day_of(day: int, rows: int, generator: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """The rows of a day; the direction between the classes turns by 2 degrees a day."""
    angle = np.deg2rad(2.0 * day)
    direction = np.zeros(FEATURES)
    direction[:2] = np.cos(angle), np.sin(angle)
    X = generator.normal(size=(rows, FEATURES))
    y = np.where(X @ direction + 0.3 * generator.normal(size=rows) > 0.0, "up", "down")
    return X, y


def main() -> None:
    given = options(__doc__)
    rows, count = (60, 15) if given.small else (500, 90)
    generator = np.random.default_rng(0)
    days = [day_of(day, rows, generator) for day in range(count)]
    everything, recent = AdaptableLSSVC(C=0.1), AdaptableLSSVC(C=0.1)
    accuracy, off = [], []
    for today in range(count - 1):
        everything.partial_fit(*days[today])
        recent.partial_fit(*days[today])
        if today >= WINDOW:
            recent.forget(*days[today - WINDOW])
        accuracy.append([100.0 * model.score(*days[today + 1]) for model in (everything, recent)])
        kept = days[max(0, today - WINDOW + 1) : today + 1]
        anew = AdaptableLSSVC(C=0.1).fit(np.vstack([X for X, _ in kept]), np.concatenate([y for _, y in kept]))
        off.append(np.abs(recent.coef_ - anew.coef_).max() / np.abs(anew.coef_).max())
    fig, (ax, below) = axes(2, 5.6, sharex=True, height_ratios=[2, 1])
    tomorrow = np.arange(1, count)
    all_days, window = np.array(accuracy).T
    ax.plot(tomorrow, all_days, color=THEIRS, label="partial_fit: all days so far")
    ax.plot(tomorrow, window, color=OURS, label=f"partial_fit and forget: the last {WINDOW} days")
    ax.set_ylabel("rows of the next day\nthat are right, %")
    ax.legend(frameon=False, loc="lower left")
    ax.set_title(f"{rows} rows a day; the direction between the classes turns by 2° a day", fontsize=11)
    below.semilogy(tomorrow, np.maximum(off, 1e-16), color=GREY)
    below.set_ylim(3e-17, 1e-12)
    below.set_ylabel("difference from\na new fit, relative")
    below.set_xlabel("day")
    save(fig, __file__, given.out)


if __name__ == "__main__":
    main()
