#!/bin/sh
# Squared epsilon-insensitive loss, primal and dual: the same answer.
# solvers: 11 12
# gives: agree
set -e
svm-scale -y 0 1 diabetes > all
train -q -s 11 -p 0.05 -c 10 -B 1 all primal
train -q -s 12 -p 0.05 -c 10 -B 1 -e 0.001 all dual
for m in primal dual; do
  predict all $m $m.out | head -n 1
done
paste -d ' ' primal.out dual.out | awk '{ d = $1 - $2; if (d * d > 1e-4) bad = 1 } END { if (!bad) print "agree" }'
train -C -s 11 -v 3 -c 512 -q all | tail -n 1 | cut -d ' ' -f 1-2
