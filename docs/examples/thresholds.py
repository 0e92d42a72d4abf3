"""Imbalanced detection with thresholds

Five rows in a hundred are of the class sought. Missing one costs 20, a false alarm costs 1. A classifier of decision
values above 0 finds too few. With calibrated probabilities the threshold follows from the costs: a row is an alarm
where p > 1 / (1 + 20). That holds if a row that gets 10 % belongs to the class in 10 % of the cases, as the right
picture checks.
"""

from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from sklearn.calibration import calibration_curve
from sklearn.datasets import make_classification
from sklearn.metrics import precision_score, recall_score
from sklearn.model_selection import train_test_split

from svmtool.sklearn import SVC

plt.style.use(Path(__file__).with_name("style.mplstyle"))
MISSED, ALARM = 20.0, 1.0

X, y = make_classification(20_000, 20, n_informative=6, weights=[0.95], class_sep=0.8, flip_y=0.01, random_state=0)
X, X_test, y, y_test = train_test_split(X, y, train_size=1 / 4, stratify=y, random_state=0)
model = SVC(C=1.0, probability="sigmoid").fit(X, y)
p = model.predict_proba(X_test)[:, 1]


def cost(alarms: np.ndarray) -> np.floating:
    """Mean cost of a row."""
    return np.mean(np.where(y_test == 1, MISSED * ~alarms, ALARM * alarms))


best = ALARM / (ALARM + MISSED)
ways = {
    "nothing is an alarm": np.zeros(len(p), bool),
    "decision value > 0": model.decision_function(X_test) > 0.0,
    "class_weight of the costs": SVC(C=1.0, class_weight={1: MISSED / ALARM}).fit(X, y).predict(X_test) == 1,
    f"probability > 1/{1 / best:.0f}": p > best,
}
for name, alarms in ways.items():
    precision, recall = precision_score(y_test, alarms, zero_division=0.0), recall_score(y_test, alarms)
    print(f"{name:26} precision {precision:.2f}  recall {recall:.2f}  cost of a row {cost(alarms):.3f}")

fig, (left, right) = plt.subplots(1, 2)
grid = np.logspace(-3, 0, 200)
left.semilogx(grid, [cost(p > t) for t in grid])
left.axvline(best, color="C3", linestyle=":", label="by the costs: 1/21")
left.axhline(cost(ways["decision value > 0"]), color="C1", label="decision value > 0")
left.set(xlabel="alarm where the probability is above", ylabel="mean cost of a row", ylim=0)
left.legend()
true, said = calibration_curve(y_test, p, n_bins=6)
right.plot([0, 100], [0, 100], color="C3", linestyle=":", label="perfect")
right.plot(100 * said, 100 * true, marker="o", label='probability="sigmoid"')
right.set(xlabel="predicted probability, %", ylabel="rows that belong to the class, %")
right.legend()
fig.savefig("thresholds.png")
