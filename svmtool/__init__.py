"""svmtool: support vector machines for the command line, with certified answers."""

__version__ = "0.1.0"
