#!/bin/sh
# A dear false alarm and a dear miss: -wi moves the line between the classes.
# solvers: 1 3
# gives: fewer positives when they are cheap
set -e
svm-scale -s range breast_cancer > train.scale
for s in 1 3; do
  train -q -s $s -c 0.01 -w1 20 -w-1 1 train.scale dear
  train -q -s $s -c 0.01 -w1 1 -w-1 20 train.scale cheap
  train -q -s $s -c 0.01 -w9 2 train.scale plain 2> warning
  cat warning
  for m in dear cheap; do
    predict train.scale $m out > /dev/null
    grep -c '^1$' out > $m.count || true
  done
  test "$(cat cheap.count)" -lt "$(cat dear.count)" && echo "fewer positives when they are cheap"
done
