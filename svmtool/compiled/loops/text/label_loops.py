"""Labels of a file as class numbers, in one pass."""

from svmtool.compiled import loop


@loop("i8(f8[], f8[], i8[], i8[])")
def number_classes(labels, values, number, counts):
    """number_i = the index of label i in `values`, the distinct labels in order of appearance, with their counts.

    Returns how many there are, or -1 if a label is not a 32-bit integer or `values` is full.  counts: initially 0.
    """
    found = 0
    last = 0
    for i in range(len(labels)):
        if found == 0 or labels[i] != values[last]:
            if not (-2147483648.0 <= labels[i] < 2147483648.0 and labels[i] == float(int(labels[i]))):
                return -1
            last = 0
            while last < found and values[last] != labels[i]:
                last += 1
            if last == found:
                if found == len(values):
                    return -1
                values[found] = labels[i]
                found += 1
        number[i] = last
        counts[last] += 1
    return found
