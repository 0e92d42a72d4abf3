"""Weights by word: docstrings of Python's standard library about files or about the network.

The texts come with Python, so nothing is downloaded; the words may differ a little between versions of Python.
"""

from __future__ import annotations

import importlib
import inspect
from types import ModuleType

import numpy as np
from drawing import OURS, THEIRS, axes, options, save
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline

from svmtool.sklearn import LPSVC

TOPICS = {
    "files": "os os.path shutil pathlib tempfile glob fnmatch tarfile zipfile gzip filecmp fileinput io",
    "network": "socket ssl http.client http.server http.cookiejar urllib.request urllib.parse smtplib ftplib poplib "
    "imaplib email.message email.utils socketserver xmlrpc.client ipaddress",
}


def paragraphs(module: ModuleType) -> list[str]:
    """The paragraphs of a module's docstrings, those of its functions, classes and methods too."""
    texts, seen = [inspect.getdoc(module) or ""], set()
    for _, found in inspect.getmembers(module):
        if getattr(found, "__module__", None) != module.__name__ or id(found) in seen:
            continue
        seen.add(id(found))
        texts.append(inspect.getdoc(found) or "")
        if inspect.isclass(found):
            texts += [inspect.getdoc(method) or "" for method in vars(found).values() if callable(method)]
    return [part for text in texts for part in text.split("\n\n") if len(part.split()) > 5]


def main() -> None:
    given = options(__doc__)
    texts, topics = [], []
    for topic, names in TOPICS.items():
        for name in names.split()[: 4 if given.small else None]:
            found = sorted(set(paragraphs(importlib.import_module(name))))
            texts += found
            topics += [topic] * len(found)
    words = TfidfVectorizer(token_pattern=r"[a-z]{3,}", min_df=3, sublinear_tf=True, stop_words="english")
    classifier = LPSVC(C=1.0)
    model = make_pipeline(words, classifier)
    accuracy = cross_val_score(model, texts, topics, cv=5).mean()
    model.fit(texts, topics)
    weights, names = classifier.coef_[0], words.get_feature_names_out()
    shown = 12
    order = np.argsort(weights)
    picked = np.concatenate([order[:shown], order[-shown:]])
    fig, ax = axes(height=6.0)
    ax.barh(np.arange(2 * shown), weights[picked], color=[THEIRS] * shown + [OURS] * shown)
    ax.set_yticks(np.arange(2 * shown), names[picked])
    ax.grid(axis="y", visible=False)
    ax.axvline(0.0, color="#444444", linewidth=0.8)
    ax.set_xlabel("weight of the word (tf-idf)")
    files, network = classifier.classes_
    ax.text(0.02, 0.97, f"← {files}", color=THEIRS, transform=ax.transAxes, fontsize=12, va="top")
    ax.text(0.98, 0.03, f"{network} →", color=OURS, transform=ax.transAxes, fontsize=12, ha="right")
    used = int(np.count_nonzero(weights))
    ax.set_title(
        f"LPSVC on {len(texts):,} paragraphs of docstrings: {used} of {len(names):,} words have a weight,\n"
        f"{100.0 * accuracy:.0f} % right in cross-validation", fontsize=11,
    )  # fmt: skip
    save(fig, __file__, given.out)


if __name__ == "__main__":
    main()
