#!/bin/sh
# Train on one file, test on another, look at the predictions.
# solvers: 1 2 3
# gives: -s 2: Accuracy = 9[0-9]
set -e
svm-scale -l 0 -u 1 -s range breast_cancer > train.scale
svm-scale -r range breast_cancer.t > test.scale
for s in 1 2 3; do
  train -q -s $s -c 1 train.scale model.$s
  echo "-s $s: $(predict test.scale model.$s out.$s)"
done
head -n 1 model.2
wc -l < out.2 | tr -d ' '
sort out.2 | uniq -c | awk '{ print $2 }'
