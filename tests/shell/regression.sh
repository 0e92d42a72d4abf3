#!/bin/bash
# Regression on a scaled target: every tenth row is held out, -p is chosen by the error.
# solvers: 13
# gives: Squared correlation coefficient = 0\.[3-6]
set -e -o pipefail
svm-scale -y 0 1 -s range diabetes > all
awk 'NR % 10 == 0' all > test
awk 'NR % 10 != 0' all > train.part
for p in 0.2 0.05 0.01; do
  train -q -s 13 -p $p -c 1 -B 1 train.part model.$p
  mse=$(predict test model.$p out | awk '/^Mean squared error/ { print $5 }')
  echo "$p $mse"
done | sort -k2,2n > sweep
best=$(head -n 1 sweep | cut -d ' ' -f 1)
train -q -s 13 -p $best -c 1 -B 1 -v 3 train.part
predict test model.$best out
test "$(wc -l < out)" -eq "$(wc -l < test)"
