"""The bars: limits that measurements must meet, all in this file."""

from __future__ import annotations

STARTUP = 1.7  # svm-train, svm-predict, svm-scale on heart_scale, against `import numpy`: at most
HELP = 1.5  # --help against `import click`: at most
FIRST_RUN = 2.0  # the first run after installation against later ones: at most
READ_MB_S = 250.0  # reading, megabytes a second and core: at least
READ_THREADS = 1.6  # reading, two threads against one: at least
TRAIN_EACH = 1.0  # whole svm-train on large sets, LIBLINEAR's time over ours: above, on each
WHOLE_SECONDS = 120.0  # limit of a run of the part `whole`; slower tools are left out
TRAIN_MEAN = 2.0  # the same in geometric mean: at least
ALONE_MEAN = 1.0  # training alone to the target, our time over LIBLINEAR's best, geometric mean: at most
ALONE_EACH = 2.0  # the same on each: at most
ALONE_TARGET = 1e-4  # relative distance of the objective from the best known
MULTICLASS_MEAN = 3.0  # whole svm-train with several classes, LIBLINEAR's time over ours, geometric mean: at least
PREDICT_EACH = 3.0  # whole svm-predict: at least
SCALE_EACH = 3.0  # whole svm-scale, LIBSVM's time over ours: at least
MEMORY_MB = 60.0  # peak memory of svm-train above LIBLINEAR's: at most
LOW_DENSE_MEAN = 0.5  # -s 3 on dense sets of few features, our time over LIBLINEAR's, geometric mean: at most
TIGHTER_EACH = 2.0  # -s 3, time to a gap of 1e-6 over that to 1e-4: at most
SLOPE = 1.15  # log-log slope of training time in the number of rows: at most

LARGE_SETS = ("connect-4", "covtype.binary.scale01.part", "madelon.ctr", "mnist.scale", "imdb.tfidf", "imdb.bigram")
READ_SETS = ("imdb.tfidf", "mnist.scale")
MULTICLASS_SETS = ("mnist.scale", "poker", "covtype.scale01.part")
PREDICT_SETS = (("imdb.tfidf", "imdb.tfidf.t"), ("mnist.scale", "mnist.scale.t"))
SCALE_SETS = ("mnist.scale",)
MEMORY_SETS = ("mnist.scale", "imdb.bigram")
SLOPE_SET = "imdb.tfidf"
REGRESSION_SETS = ("abalone_scale", "cadata", "house_16H", "kin40k")
LOW_DENSE_SETS = (
    "cod-rna.std", "covtype.binary.scale01.part", "covtype.scale01.part", "ijcnn1", "magic04", "magic04_scale",
    "shuttle.scale",
)  # fmt: skip
POWER_SLOPE_SETS = ("ijcnn1", "covtype.binary.scale01.part")
POWERS = (1.0, 2.0)
HINGE_GAPS = (1e-4, 1e-6)
COSTS = (0.01, 1.0, 100.0)
NUS = (0.01, 0.1, 0.5)  # instead of C for one-class

# Ladders of -e for training times: each tool counts with its fastest step that reaches the target.
LADDERS = {
    1: (1.0, 0.3, 0.1, 0.03, 0.01, 0.001),
    2: (0.1, 0.03, 0.01, 0.003, 0.001, 1e-4, 1e-5),
    3: (1.0, 0.3, 0.1, 0.03, 0.01, 0.003, 0.001, 1e-4),
    13: (0.1, 0.03, 0.01, 0.003, 0.001, 1e-4, 1e-5),
}
DEFAULT_EPS = {0: 0.01, 1: 0.1, 2: 0.01, 3: 0.1, 4: 0.1, 5: 0.01, 6: 0.01, 7: 0.1, 11: 1e-4, 12: 0.1, 13: 0.1, 21: 0.01}
TIGHTER = (10.0, 0.3, 0.1, 0.03, 0.01, 0.001)  # LIBLINEAR's ladder: multiples of each number's default -e
OUR_STEPS = (1e-2, 1e-3, 1e-4)  # steps of --gap in ours
AUTO_MEAN = 1.3  # -s auto against the fastest of its candidates, geometric mean of times: at most
NEVER_WORSE = 1e-6  # objective at default -e above LIBLINEAR's, relative: at most
SAME_PROBLEM = {40: 1}  # our numbers whose problem is one of LIBLINEAR's
NESVM = (50, 51, 52)
NESVM_COSTS = (1e-3, 1e-2, 0.1, 1.0, 10.0, 100.0, 1000.0)
NESVM_GAP = 1e-3
NESVM_EACH = 10.0  # -s 50, 51, 52 to that gap, longest over shortest time for these C, on each set: at most
LSSVM = (70, 71, 72)
LSSVM_SETS = (
    "a9a", "cod-rna.std", "covtype.binary.scale01.part", "mushrooms", "w8a", "svmguide3", "german.numer_scale", "poker",
    "shuttle.scale", "ijcnn1", "mnist.scale",
)  # fmt: skip
LSSVM_FAST = ("covtype.binary.scale01.part", "ijcnn1", "cod-rna.std")  # of fewer than 200 features
LSSVM_EACH = 5.0  # -s 70 alone on each of these, LIBLINEAR's -s 2 over ours: at least
ADAPT_ROWS = (1_000_000, 1_000, 54)  # rows of the model, rows added, features
ADAPT_FASTER = 100.0  # --add against training again: at least this many times faster
ADAPT_EQUAL = 1e-8  # relative distance of the weights: at most
LSSVM_DIMS = ("imdb.tfidf", (50, 100, 200, 300, 500, 700, 1000, 1500, 2000))
OUR_GAPS = {40: (1e-2, 1e-3, 1e-4)}  # steps of --gap, for solvers that LIBLINEAR does not have

KERNEL_CASES = (  # set, C, gamma (None: one over the number of features, the default)
    ("a9a", 1.0, 0.05), ("a9a", 100.0, 0.05), ("w8a", 8.0, 0.05), ("ijcnn1", 32.0, 2.0), ("magic04_scale", 100.0, 0.5),
    ("cod-rna.std", 100.0, 0.1), ("shuttle.scale", 100.0, 1.0), ("bank-additional", 1.0, None),
    ("connect-4", 1.0, None), ("mnist.scale", 10.0, 0.02), ("imdb.tfidf", 1.0, 1.0),
)  # fmt: skip
KERNEL_FIRST = {"mnist.scale": 20_000, "imdb.tfidf": 10_000}  # number of first rows that are used
KERNEL_SPLIT = {"mnist.scale": 4}  # labels up to this against those above, as two classes
KERNEL_EPS, KERNEL_TIGHT, KERNEL_CACHE_MB = 1e-3, 1e-5, 1000
KERNEL_LIBSVM_MEAN = 3.0  # svm-train with a kernel, LIBSVM's time over ours, geometric mean: at least
KERNEL_ONEDAL_MEAN = 1.5  # the same against oneDAL's SVC: at least
KERNEL_EACH = 1.0  # the faster of the two over ours, on each: at least
KERNEL_OBJECTIVE = 1e-5  # objective against LIBSVM's at -e KERNEL_TIGHT, relative difference: at most
KERNEL_MEMORY_MB = 150.0  # peak memory above -m and the data: at most
KERNEL_MEMORY_CASES = (("a9a", 1.0, 0.05, 100), ("w8a", 8.0, 0.05, 100))  # and -m, less than all rows need
KERNEL_PREDICT_EACH = 5.0  # whole svm-predict with a kernel model, LIBSVM's time over ours: at least
KERNEL_PREDICT_CASES = (("a9a", "a9a.t", 1.0, 0.05, None), ("mnist.scale", "mnist.scale.t", 10.0, 0.02, 20_000))
KERNEL_LS_CASES = (  # the available sets of SGD-LSSVM's Dataset II
    ("a9a", 1.0, 0.05), ("mushrooms", 1.0, 0.05), ("svmguide1", 1.0, 0.001), ("shuttle.scale", 100.0, 1.0),
    ("ijcnn1", 32.0, 2.0), ("cod-rna.std", 100.0, 0.1), ("splice_scale", 1.0, 0.05),
)  # fmt: skip
PAIR_CASES = (("magic04_scale", 100.0, 0.5), ("a9a", 1.0, 0.05))
PAIRS = (10, 25, 50, 100, 200, None)  # p of a working set; None: the default

# one class as the normal one; the numbers of rows over which rounds are drawn, at gamma = FOSVM_CURVE / features
FOSVM_CASES = (("shuttle.scale", 1), ("mnist.scale", 1), ("satimage.scale", 1), ("a9a", -1), ("cod-rna.std", -1),
               ("mammography", -1))  # fmt: skip
FOSVM_GAMMAS = (1.0, 3.0, 10.0, 30.0, 100.0)  # times 1 / features
FOSVM_SIZES, FOSVM_CURVE = (500, 1000, 2000, 5000, 10_000, 20_000, 50_000), 10.0
FOSVM_LARGE = 20_000  # training rows from which the next bar applies
FOSVM_FASTER = 10.0  # training time of LIBSVM's -s 2 over -s 80's, each at its best gamma: at least
FOSVM_AUC = 0.01  # by which the area under the ROC curve may be below LIBSVM's: at most

LARGE_MB, LARGE_KERNEL_ROWS = 1500, 3000  # size of each generated set, and rows of the one for kernels
LARGE_NUMBERS, LARGE_KERNELS = (1, 2, 3), (0, 3)
LARGE_EACH = 1.0  # LIBLINEAR's or LIBSVM's time over ours: at least
ON_DISK_SLOWER = 2.0  # svm-train --memory with an existing folder over training in memory: at most
ON_DISK_APART = 1.0  # difference of the two objectives, over the sum of their certified gaps: at most

# `all-sets`: LIBLINEAR's time over ours unless stated otherwise; the classes are megabytes of text
ALL_SETS_LARGE, ALL_SETS_MIDDLE = 3.0, 1.0  # files from this many megabytes on
ALL_SETS_SOLVERS, ALL_SETS_NUMBERS = (0, 1, 2, 3, 4, 5, 6, 7), (11, 12, 13)  # for classes, for regression
ALL_SETS_LARGE_MEAN, ALL_SETS_COST_MEAN = 2.0, 1.5  # whole process, large files, in all and at each C: at least
ALL_SETS_LARGE_WINS = 0.95  # share of the pairs of large files with a ratio of 1 or more: at least
ALL_SETS_SLOW = 0.7  # pairs with a lower ratio are reported one by one
ALL_SETS_LARGE_EACH, ALL_SETS_MIDDLE_EACH = 0.7, 0.5  # on each pair: at least
ALL_SETS_LOOSER = (10.0, 3.0, 1.0)  # of LIBLINEAR's default -e, steps towards its own objective
ALL_SETS_OBJECTIVE_MEAN, ALL_SETS_OBJECTIVE_EACH = 2.0, 0.8  # time to that objective, training alone: at least
ALL_SETS_GAP = 1e-3  # the requested certified gap
ALL_SETS_GAP_MEAN = 5.0  # seconds to it, ours over LIBLINEAR's default, geometric mean: at most
ALL_SETS_GAP_SECONDS, ALL_SETS_GAP_NONZEROS = 30.0, 3_000_000  # certified in this time, on sets up to this size
ALL_SETS_GAP_SOLVERS = (1, 2, 3, 5, 6)
ALL_SETS_MEMORY_MB, ALL_SETS_MEMORY_DATA = 60.0, 1.5  # above LIBLINEAR's peak, and times the data: at most
ALL_SETS_NUMBER_BYTES = 12  # of a non-zero number in memory

SPARK_MASTER, SPARK_MEMORY = "local[2]", "12g"  # of both tools
SPARK_SETS, SPARK_ROWS = ("imdb.tfidf",), (2_000_000, 100)  # and a synthetic set of this many rows and features
SPARK_GAP = 1e-3  # relative distance of the objective from the optimum
SPARK_FASTER = 2.0  # MLlib's time to it over ours, rows cached: at least

QUICK = {
    "spark": (("a9a",), (20_000, 100)),
    "large": ("connect-4",),
    "multiclass": ("poker",),
    "predict": (("mnist.scale.t", "mnist.scale.t"),),
    "scale": ("mnist.scale.t",),
    "memory": ("connect-4",),
    "read": ("mnist.scale.t",),
    "alone": ("heart_scale", "a9a", "segment.scale"),
    "slope": "connect-4",
    "nesvm": ("heart_scale",),
    "lssvm": ("heart_scale", "svmguide3"),
    "adapt": (20_000, 200, 54),
    "lssvm-dims": ("heart_scale", (3, 6, 13)),
    "fosvm": (("satimage.scale", 1),),
    "kernel": (("svmguide1", 100.0, 0.5), ("magic04_scale", 100.0, 0.5)),
    "kernel-memory": (("svmguide1", 100.0, 0.5, 1),),
    "kernel-ls": (("heart_scale", 1.0, 0.1),),
    "kernel-pairs": (("heart_scale", 1.0, None),),
    "kernel-predict": (("svmguide1", "svmguide1.t", 100.0, 0.5, None),),
}

PYTHON_GAP = 1e-4  # certified relative distance from the minimum to which all tools are run
PYTHON_TOLERANCES = tuple(10.0**-k for k in range(1, 9))  # of the tools, until that is reached
PYTHON_KERNEL_ROWS = 20_000  # sets of more rows are left out with kernels
PYTHON_TIMES_OURS, MIN_PYTHON_SECONDS = 50.0, 2.0  # a peer's fit: limit, times ours, and its least value
PYTHON_LINEAR_SVC_MEAN, PYTHON_LINEAR_SVC_EACH = 3.0, 0.8  # LinearSVC's time over ours: at least
PYTHON_TRAIN_MEAN = 2.0  # liblinear-official's time over ours: at least
PYTHON_CALL_US, PYTHON_ESTIMATOR_US = 300.0, 1000.0  # a call on 100 x 10 beyond the solver: at most
