"""LIBLINEAR's and LIBSVM's Python modules on top of svmtool's solvers.

`svmtool.liblinearutil` and `svmtool.svmutil` are the modules to import; what they share is here.
`python -m svmtool.compat SCRIPT.py` runs a script that imports `liblinear` or `libsvm`, unchanged.
"""
