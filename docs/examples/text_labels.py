"""Text to labels

Paragraphs of the docstrings of Python's standard library are about files or about the network. tf-idf makes each of
them a row, and `LPSVC`, the hinge loss with |w|_1, gives most words the weight 0: the others can be read. The texts
come with Python, so the words differ a little between its versions.
"""

import importlib
import inspect
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline

from svmtool.sklearn import LPSVC

plt.style.use(Path(__file__).with_name("style.mplstyle"))
MODULES = {
    "files": "os shutil pathlib tempfile glob fnmatch tarfile zipfile gzip filecmp fileinput io",
    "network": "socket ssl http.client http.server http.cookiejar urllib.request urllib.parse smtplib ftplib poplib "
    "imaplib email.message email.utils socketserver xmlrpc.client ipaddress",
}

# A text is a paragraph of a module's docstrings, those of its functions, classes and methods too.
texts, topics = [], []
for topic, names in MODULES.items():
    for name in names.split():
        module = importlib.import_module(name)
        own = [found for found in vars(module).values() if getattr(found, "__module__", None) == name]
        methods = [method for found in own if inspect.isclass(found) for method in vars(found).values()]
        documented = [module, *own, *filter(callable, methods)]
        paragraphs = {part for found in documented for part in (inspect.getdoc(found) or "").split("\n\n")}
        chosen = sorted(part for part in paragraphs if len(part.split()) > 5)
        texts += chosen
        topics += [topic] * len(chosen)

words = TfidfVectorizer(token_pattern=r"[a-z]{3,}", min_df=3, sublinear_tf=True, stop_words="english")
model = make_pipeline(words, LPSVC(C=1.0))
accuracy = cross_val_score(model, texts, topics, cv=5).mean()
classifier = model.fit(texts, topics)[-1]
weights, names = classifier.coef_[0], words.get_feature_names_out()
print(f"{len(texts):,} paragraphs, {100 * accuracy:.0f} % right in cross-validation with 5 folds")
print(f"{np.count_nonzero(weights)} of {len(names):,} words have a weight; certified gap {classifier.gap_:.0e}")
for text in ("Copy a directory tree and its permissions.", "Send a request and read the reply of the server."):
    print(f"{text} -> {model.predict([text])[0]}")

order = np.argsort(weights)
shown = np.concatenate([order[:12], order[-12:]])
fig, ax = plt.subplots(figsize=(7.2, 6.0))
ax.barh(names[shown], weights[shown], color=np.where(weights[shown] < 0.0, "C1", "C0"))
ax.grid(axis="y", visible=False)
ax.set_xlabel(f"weight of the word: {classifier.classes_[0]} below 0, {classifier.classes_[1]} above")
fig.savefig("text_labels.png")
