#!/bin/sh
# Ten classes, one against the rest; the confusion matrix by paste and awk.
# solvers: 1 2
# gives: right on the diagonal: 5[0-9][0-9]
set -e
for s in 1 2; do
  train -q -s $s -c 0.01 digits digits.$s
  predict digits.t digits.$s out.$s
done
grep '^label' digits.2
grep '^nr_class' digits.2
cut -d ' ' -f 1 digits.t | paste -d ' ' - out.2 | awk '
  { count[$1 " " $2]++; if ($1 == $2) right++ }
  END { print "right on the diagonal: " right; exit !(count["0 0"] > 30) }'
