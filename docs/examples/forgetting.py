"""Adding and forgetting

The direction between two classes turns by 2° a day. A model that forgets old days stays accurate. `forget` is exact:
the weights are those of a new fit on the rows that remain, up to round-off.
"""

from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

from svmtool.sklearn import AdaptableLSSVC

plt.style.use(Path(__file__).with_name("style.mplstyle"))
ROWS, FEATURES, DAYS, WINDOW = 500, 20, 90, 10  # WINDOW: days that the forgetting model keeps

generator = np.random.default_rng(0)
days = []
for angle in np.deg2rad(2.0 * np.arange(DAYS)):
    X = generator.normal(size=(ROWS, FEATURES))
    values = np.cos(angle) * X[:, 0] + np.sin(angle) * X[:, 1] + 0.3 * generator.normal(size=ROWS)
    days.append((X, np.where(values > 0.0, "up", "down")))

everything, recent = AdaptableLSSVC(C=0.1), AdaptableLSSVC(C=0.1)
accuracy, off = [], []
for today in range(DAYS - 1):
    everything.partial_fit(*days[today])
    recent.partial_fit(*days[today])
    if today >= WINDOW:
        recent.forget(*days[today - WINDOW])
    accuracy.append([100.0 * model.score(*days[today + 1]) for model in (everything, recent)])
    X, y = map(np.concatenate, zip(*days[max(0, today - WINDOW + 1) : today + 1], strict=True))
    anew = AdaptableLSSVC(C=0.1).fit(X, y)
    off.append(np.abs(recent.coef_ - anew.coef_).max() / np.abs(anew.coef_).max())
print(f"accuracy on the last day: {accuracy[-1][0]:.1f} % of all days, {accuracy[-1][1]:.1f} % of the last {WINDOW}")
print(f"largest relative difference from a new fit: {max(off):.0e}")

fig, (ax, below) = plt.subplots(2, 1, figsize=(7.2, 5.6), sharex=True, height_ratios=[2, 1])
tomorrow = np.arange(1, DAYS)
for values, name, colour in zip(
    np.transpose(accuracy), ("all days so far", f"the last {WINDOW} days"), ("C1", "C0"), strict=True
):
    ax.plot(tomorrow, values, color=colour, label=name)
ax.set_ylabel("rows of the next day\nthat are right, %")
ax.legend(loc="lower left")
below.semilogy(tomorrow, np.maximum(off, 1e-17), color="C3")
below.set(xlabel="day", ylabel="difference from\na new fit, relative", ylim=(1e-17, 1e-12))
fig.savefig("forgetting.png")
