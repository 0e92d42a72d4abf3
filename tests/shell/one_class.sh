#!/bin/sh
# Only benign tumours are known; the others should look strange.
# solvers: 21
# gives: strange rows found
set -e
svm-scale -l 0 -s range breast_cancer > all
grep '^-1' all | sed 's/^-1/1/' > known
grep '^1' all | sed 's/^1/-1/' > strange
train -q -s 21 -n 0.1 known model
predict known model out.known > /dev/null
predict strange model out.strange > /dev/null
refused=$(grep -c '^-1' out.known || true)
rows=$(wc -l < known)
awk -v r="$refused" -v n="$rows" 'BEGIN { exit !(r <= 0.15 * n) }' && echo "few known rows refused"
test -s out.strange && echo "strange rows found"
