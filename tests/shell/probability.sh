#!/bin/sh
# Logistic regression with probabilities; only sure answers are kept.
# solvers: 0 7
# gives: right among the sure: 0\.9
set -e
svm-scale -l 0 -s range breast_cancer > train.scale
svm-scale -r range breast_cancer.t > test.scale
for s in 0 7; do
  train -q -s $s -c 10 train.scale model.$s
  predict -b 1 test.scale model.$s prob.$s
done
head -n 1 prob.0
cut -d ' ' -f 1 test.scale > truth
tail -n +2 prob.0 | paste -d ' ' truth - | awk '
  { sure = ($3 > 0.8 || $4 > 0.8) } sure { n++; if ($1 + 0 == $2 + 0) right++ }
  END { print "sure: " (n > 100); printf "right among the sure: %.1f\n", int(10 * right / n) / 10 }'
