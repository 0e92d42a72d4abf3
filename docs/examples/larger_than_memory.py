"""Data larger than memory

`svm-train --memory 300M` keeps the rows in files beside the data and holds no more than that in memory, whatever
their number. The picture has the peak memory of whole commands, with and without the option. 300 MB is the least that
can be asked for, and the files are small, so that the example runs in seconds.
"""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

import svmtool

plt.style.use(Path(__file__).with_name("style.mplstyle"))
TRAIN = [sys.executable, "-c", "from svmtool.start import train; train()", "-s", "2", "-e", "0.1"]
FEATURES, AT_ONCE = 40, 20_000


def peak(*options: str) -> tuple[float, str]:
    """Megabytes that a command held at most, and the last line that it printed."""
    child = subprocess.Popen([*TRAIN, *options], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    assert child.stdout is not None
    last = child.stdout.read().splitlines()[-1]
    _, status, usage = os.wait4(child.pid, 0)
    assert status == 0
    return usage.ru_maxrss / 1000, last


generator = np.random.default_rng(0)
direction = generator.normal(size=FEATURES)
sizes, memory, disk = [], [], []
with tempfile.TemporaryDirectory() as folder:
    part, text, model = (os.path.join(folder, name) for name in ("part", "text", "model"))
    for block in range(1, 31):
        X = generator.integers(-9, 10, (AT_ONCE, FEATURES))
        svmtool.write_svmlight(X, np.where(X @ direction + 20 * generator.normal(size=AT_ONCE) > 0, 1, -1), part)
        with open(text, "ab") as file:
            file.write(Path(part).read_bytes())
        if block not in (5, 10, 20, 30):
            continue
        sizes.append(os.path.getsize(text) / 1e6)
        held, last = peak(text, model)
        bounded, also = peak("--memory", "300M", text, model)
        memory.append(held)
        disk.append(bounded)
        print(f"{block * AT_ONCE:,} rows, {sizes[-1]:3.0f} MB of text: {held:.0f} MB, with --memory {bounded:.0f} MB")
print(f"in memory: {last}\n--memory:  {also}")

fig, ax = plt.subplots()
ax.plot(sizes, memory, "s-", color="C1", label="svm-train")
ax.plot(sizes, disk, "o-", color="C0", label="svm-train --memory 300M")
ax.axhline(300, color="C3", linestyle=":", label="300 MB")
ax.set(xlabel="text, MB", ylabel="peak memory of the command, MB", ylim=0)
ax.legend()
fig.savefig("larger_than_memory.png")
