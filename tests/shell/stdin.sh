#!/bin/sh
# Standard input and output as files, and no file of scaled rows.
# solvers: 2
# gives: Accuracy = 9[0-9]
set -e
svm-scale -s range breast_cancer > train.scale
train -q -s 2 /dev/stdin from.stdin < train.scale
train -q -s 2 train.scale from.file
grep -v '^#' from.stdin > a
grep -v '^#' from.file | cmp - a
svm-scale -r range breast_cancer.t > test.scale
predict /dev/stdin from.file out < test.scale
predict -q test.scale from.file /dev/stdout | cmp - out
predict test.scale from.file /dev/stdout | tail -n 1
