"""The options of svm-predict; -b and -q are LIBLINEAR's."""

from __future__ import annotations

from svmtool.options import COUNT, FILE, LAST, MASTER, Kind, Option, own

OPTIONS = (
    Option(
        "-b", "write probabilities (logistic models and models of svm-train -b 1; default 0)",
        Kind("0 or 1"), "0|1", "probabilities", tried=("--probability", "--probabilities", "--proba"),
    ),
    Option("-q", "quiet: no accuracy or error lines", setting="quiet", tried=("--quiet",)),
    own(
        "--scores", "also write the decision values: one line per row, separated by blanks (kernel models: one value "
        "for each pair of classes)", FILE, "FILE", tried=("--decision-values",),
    ),
    own(
        "--certified", "print how many labels are those of the exact optimum for sure; --scores FILE has 1 for these, "
        "else 0, in a last column (linear classifiers, and C-SVC of two classes with a kernel)", excludes=("--spark",),
    ),
    own(
        "--metrics", "print precision, recall and F1 of each class and their means; the area under the ROC curve (two "
        "classes, or one-class, where rows not labelled 1 count as outliers); mean absolute error in ranks (models of "
        "-s 43); mean absolute error and R2 (regression); micro and macro F1 and precision at 1, 3 and 5 (models of "
        "--multilabel)",
    ),
    own(
        "--top", "of a model of svm-train --multilabel: write the N labels of the largest decision values of each row",
        COUNT, "N", excludes=("--spark",),
    ),
    own(
        "--names", "write the strings of labels that FILE (DATA.names of svmtool convert) has for the integers; fields "
        "separated by tabs", FILE, "FILE", excludes=("--spark",),
    ),
    own(
        "--row-names", "write the text after # of each row behind its prediction, after a tab", excludes=("--spark",),
    ),
    own(
        "--no-labels", "the rows of test_file begin with index:value or nan: no accuracy is printed (without it, rows "
        "may begin with nan)", setting="labelled", sets=False, excludes=("--metrics", "--spark"),
    ),
    own(
        "--spark", "predict with Spark (local[N], spark://HOST:PORT, yarn, ..): test_file is a file, directory or "
        "pattern as Spark reads them, output_file and --scores name new directories, whose part files hold the lines "
        "in the order of the input", MASTER, "MASTER",
    ),
    *LAST,
)  # fmt: skip
