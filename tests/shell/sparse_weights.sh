#!/bin/sh
# An L1 penalty leaves few weights: which features are they?
# solvers: 5 6
# gives: -s 5: few
set -e
svm-scale -l 0 -s range breast_cancer > train.scale
for s in 5 6; do
  train -q -s $s -c 0.1 train.scale model.$s
  used=$(awk '/^w$/ { weights = 1; next } /^#/ { exit } weights && $1 != 0 { n++ } END { print n + 0 }' model.$s)
  test "$used" -gt 0 && test "$used" -lt 20 && echo "-s $s: few"
  predict train.scale model.$s out
done
