#!/bin/sh
# Cross-validation twice: by train -v, and by hand with awk and a loop.
# solvers: 2
# gives: mean of the folds: 9[0-9]
set -e
svm-scale -s range breast_cancer > all
train -q -s 2 -v 3 all | awk '/Cross Validation Accuracy/ { print "by train -v: " $NF }'
total=0
for k in 0 1 2; do
  awk -v k=$k 'NR % 3 == k' all > fold.test
  awk -v k=$k 'NR % 3 != k' all > fold.train
  train -q -s 2 fold.train fold.model
  accuracy=$(predict fold.test fold.model fold.out | sed 's/Accuracy = \([0-9.]*\)%.*/\1/')
  echo "fold $k: $accuracy"
  total=$(echo "$total $accuracy" | awk '{ print $1 + $2 }')
done
echo "mean of the folds: $(echo "$total" | awk '{ print $1 / 3 }')"
