#!/bin/sh
# Scale, train and predict on a real set: scripts/demo.sh [DATA [RESULTS]].  The commands must be found by name.
set -eu
data=${1:-data} results=${2:-results/demo}
mkdir -p "$results"
set -x
svm-scale -l 0 -s "$results/range" "$data/breast_cancer" > "$results/train.scale"
svm-scale -r "$results/range" "$data/breast_cancer.t" > "$results/test.scale"
svm-train -s 2 "$results/train.scale" "$results/breast_cancer.model"
svm-predict "$results/test.scale" "$results/breast_cancer.model" "$results/predictions"
