"""Figure 1 of a paper

Nie, Huang, Wang and Huang (ICML 2014) say in Figure 1 that the time of their algorithms grows linearly with the rows.
`method="paper"` runs them as printed, `method="fast"` solves the same problem by svmtool's engine. The rows here are
made, to fit into seconds; `make experiments ONLY=alm-figure1` measures five real sets, and [the papers'
experiments](../experiments.md) has the result.
"""

import time
from functools import partial
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_classification

import svmtool

plt.style.use(Path(__file__).with_name("style.mplstyle"))
SIZES = np.array([2000, 4000, 8000, 16000, 32000, 64000])
METHODS = {
    "Algorithm 1, as printed (-s 31)": partial(svmtool.fit, solver=31, method="paper"),
    "Algorithm 2, as printed (-s 30)": partial(svmtool.fit, solver=30, method="paper"),
    "the engine, to a gap of 1e-6": partial(svmtool.fit, solver=30, method="fast", gap=1e-6),
}

X, y = make_classification(SIZES[-1], 20, n_informative=10, flip_y=0.05, random_state=0)
X /= np.abs(X).max(axis=0)
fig, ax = plt.subplots()
for (name, fit), marker in zip(METHODS.items(), "so^", strict=True):
    seconds = []
    fit(X[:100], y[:100])  # imports what the fits need
    for n in SIZES:
        began = time.process_time()
        done = fit(X[:n], y[:n], C=1.0, threads=1)
        seconds.append(time.process_time() - began)
    slope = np.polyfit(np.log(SIZES), np.log(seconds), 1)[0]
    ax.loglog(SIZES, seconds, marker=marker, label=f"{name}: slope {slope:.2f}")
    print(f"{name}: slope {slope:.2f}, certified gap with {SIZES[-1]:,} rows {done.certificate.gap:.0e}")
ax.loglog(SIZES, seconds[0] * SIZES / SIZES[0], color="C3", linestyle=":", label="linear: slope 1")
ax.set(xlabel="rows", ylabel="processor seconds of a fit")
ax.set_xticks(SIZES, [f"{n:,}" for n in SIZES])
ax.minorticks_off()
ax.legend()
fig.savefig("figure1.png")
