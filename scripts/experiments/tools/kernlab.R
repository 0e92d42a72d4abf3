# kernlab.py's process: arguments are the file of rows and labels, n, d, C, tol, and the file for the answer
library(kernlab)
asked <- commandArgs(TRUE)
n <- as.integer(asked[2]); d <- as.integer(asked[3])
file <- file(asked[1], "rb")
X <- matrix(readBin(file, "double", n * d), n, d)
y <- factor(readBin(file, "double", n), levels = c(1, -1))
seconds <- system.time(
  m <- ksvm(X, y, type = "C-bsvc", kernel = "vanilladot", kpar = list(), C = as.numeric(asked[4]),
            tol = as.numeric(asked[5]), scaled = FALSE, cache = 1000)
)[["elapsed"]]
a <- coef(m)[[1]]; rows <- alphaindex(m)[[1]]
class <- sign(a[1]) * ifelse(y[rows[1]] == 1, 1, -1)  # which of the labels is its positive class
out <- file(asked[6], "wb")
writeBin(c(seconds, class * c(b(m), colSums(a * X[rows, , drop = FALSE]))), out)
close(out)
