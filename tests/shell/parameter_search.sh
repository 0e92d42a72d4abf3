#!/bin/sh
# The search for C that train itself offers, with its default and with a start.
# solvers: 2
# gives: Accuracy = 9[0-9]
set -e
svm-scale -l 0 -s range breast_cancer > train.scale
svm-scale -r range breast_cancer.t > test.scale
train -C -s 2 -v 3 -q train.scale > search
grep -c 'Doing parameter search with 3-fold cross validation.' search
c=$(train -C -s 2 -c 0.25 -v 3 train.scale | awk '/^Best C/ { print $4 }')
test -n "$c"
lines=$(train -C -s 2 -c 256 -v 3 train.scale | grep -c 'log2c=')
echo "$lines values from 256 on"
train -q -s 2 -c "$c" train.scale model
predict test.scale model out
