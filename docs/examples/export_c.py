"""Exporting to C

`svmtool.export` writes a model as C99 source without dependencies, for programs and devices that have no Python. Here
ten digits are learnt, the source is compiled with a `main` that reads rows, and its labels are compared with those of
`predict`. The picture has the weights that are in the source: dark pixels speak for the digit, red ones against it.
"""

import shutil
import subprocess
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

import svmtool

plt.style.use(Path(__file__).with_name("style.mplstyle"))
MAIN = r"""
#include <stdio.h>
double svm_predict(const double *x);
int main(void) {
    double x[64];
    for (int i = 0; scanf("%lf", &x[i]) == 1; i = (i + 1) % 64)
        if (i == 63) printf("%g\n", svm_predict(x));
    return 0;
}
"""

X, X_test, y, y_test = train_test_split(*load_digits(return_X_y=True), random_state=0)
done = svmtool.fit(X, y, solver="l2svc", C=1e-3)
ours = svmtool.predict(done, X_test)
svmtool.export(done, "digits.c")
size = Path("digits.c").stat().st_size
print(f"{np.mean(ours == y_test):.1%} of {len(y_test)} test rows are right; digits.c has {size:,} bytes")
if shutil.which("cc"):
    Path("main.c").write_text(MAIN)
    subprocess.run(["cc", "-O2", "-std=c99", "-o", "digits", "main.c", "digits.c", "-lm"], check=True)
    rows = "\n".join(" ".join(map(repr, row)) for row in X_test.tolist())
    printed = subprocess.run(["./digits"], input=rows, capture_output=True, text=True, check=True).stdout
    print(f"labels that the C program predicts otherwise: {np.sum(np.array(printed.split(), float) != ours)}")

fig, axes = plt.subplots(2, 5, figsize=(7.2, 3.2))
largest = np.abs(done.model.W).max()
for digit, ax in enumerate(axes.flat):
    column = list(done.model.labels or ()).index(digit)
    ax.imshow(done.model.W[:64, column].reshape(8, 8), cmap="RdGy", vmin=-largest, vmax=largest)
    ax.set(title=str(digit), xticks=[], yticks=[])
    ax.grid(visible=False)
fig.savefig("export_c.png")
