#!/bin/sh
# Factors found on the training set serve the test set, with other bounds too; scaling twice changes nothing.
# solvers: 2
# gives: Accuracy = 9[0-9]
set -e
svm-scale -l -1 -u 1 -s range1 breast_cancer > train.scale
svm-scale -r range1 breast_cancer.t > test.scale
svm-scale -l 0 -u 10 -s range2 digits > digits.scale
svm-scale -r range1 breast_cancer | cmp - train.scale
head -n 2 range1
awk 'NR > 2 { n++ } END { print n " features" }' range1
awk '{ for (i = 2; i <= NF; i++) { split($i, f, ":"); if (f[2] < 0 || f[2] > 10) exit 1 } }' digits.scale
train -q -s 2 train.scale model
predict test.scale model out
