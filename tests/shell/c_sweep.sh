#!/bin/bash
# The best C of a list by cross-validation, with the solver's text on the screen, then the final model.
# solvers: 1
# gives: final: Accuracy = 9[0-9]
set -e -o pipefail
svm-scale -s range breast_cancer > train.scale
svm-scale -r range breast_cancer.t > test.scale
for log2c in -7 -3 1; do
  c=$(awk "BEGIN { print 2 ^ $log2c }")
  rate=$(train -s 1 -c $c -v 4 train.scale | grep 'Cross Validation' | awk '{ print $5 }' | tr -d '%')
  echo "$log2c $c $rate"
done | tee sweep
best=$(sort -k3,3nr -k1,1n sweep | head -n 1 | cut -d ' ' -f 2)
train -s 1 -c "$best" train.scale final.model | grep -c 'Objective value'
echo "final: $(predict test.scale final.model out)"
