#!/bin/sh
# Ten classes at once (Crammer and Singer), beside one against the rest.
# solvers: 2 4
# gives: -s 4: Accuracy = 9[0-9]
set -e
for s in 2 4; do
  train -q -s $s -c 0.01 digits digits.$s
  echo "-s $s: $(predict digits.t digits.$s out.$s)"
done
awk '/^w$/ { weights = 1; next } /^#/ { exit } weights { n = NF } END { print n " columns" }' digits.4
