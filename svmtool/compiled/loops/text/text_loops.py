"""Loops that read LIBSVM text, `label index:value index:value ...`, one row on each line; labels as class numbers.

They read the usual forms (everything that %g, %.17g, %d and repr print, blanks, tabs, CRLF after a feature) and stop at
the start of any other line, which formats/svmlight/slow_line.py reads or rejects.

Numbers are correctly rounded: directly if mantissa and power of ten are exact in double precision, else by Eisel and
Lemire's method (see power_table.py).
"""

from __future__ import annotations

import math

from svmtool.compiled import _library, helper, loop

if _library is None:
    from svmtool.compiled.loops.text.power_table import (
        FIRST_POWER,
        INT_TENS,
        POWERS,
        TENS,
        below,
        float_of_bits,
        high_product,
        leading_zeros,
        load8,
        shift_right,
        trailing_zeros,
    )  # fmt: skip

PADDING = 32  # bytes needed in the buffer after the text

# What begins a row: its label; its label, or `nan` where it has none; pairs alone, or `nan`.  Such labels are nan.
LABELLED, SOME_LABELLED, UNLABELLED, SETS = range(4)

TAB, NEWLINE, RETURN, BLANK, PLUS, MINUS, POINT, COLON = b"\t\n\r +-.:"
ZERO_DIGIT, NINE_DIGIT, CAPITAL_E, LETTER_E = b"09Ee"
ASCII_ZEROS = int.from_bytes(b"00000000", "little")
LOW_BITS = 0x7F7F7F7F7F7F7F7F
HIGH_BITS = -0x7F7F7F7F7F7F7F80
PAST_NINE = 0x7676767676767676
MAX_EXACT_INTEGER = 1 << 53  # doubles hold all integers up to this
LAST_INDEX = 2**31 - 1  # of a feature
PAIR, LINE_END, UNUSUAL = range(3)  # answers of pair_at


@helper
def digits_at_front(word):
    """Number of leading digits among the eight bytes of `word`, from the lowest byte."""
    t = word ^ ASCII_ZEROS
    others = (((t & LOW_BITS) + PAST_NINE) | t) & HIGH_BITS
    return trailing_zeros(others) >> 3


@helper
def eight_digits(word):
    """Value of eight bytes 0..9 (not '0'..'9'), most significant in the lowest byte."""
    word = (word & 0x0F0F0F0F0F0F0F0F) * 2561 >> 8
    word = (word & 0x00FF00FF00FF00FF) * 6553601 >> 16
    return (word & 0x0000FFFF0000FFFF) * 42949672960001 >> 32


@helper
def few_digits(word, n):
    """Value of the first n <= 7 digits in the bytes of `word`."""
    return eight_digits(((word ^ ASCII_ZEROS) << (56 - 8 * n)) << 8)


@helper
def scaled(m, q):
    """m 10^q correctly rounded, m any 64-bit word, and whether the rounding was decided.

    Not decided: results that are neither 0 nor normal doubles, and rare cases for which 128 bits do not suffice.
    """
    if m == 0:
        return 0.0, True
    if 0 < m < MAX_EXACT_INTEGER and -22 <= q <= 22:
        return (m / TENS[-q] if q < 0 else m * TENS[q]), True
    if q < -342 or q > 308:
        return 0.0, False
    zeros = leading_zeros(m)
    w = m << zeros
    at = 2 * (q - FIRST_POWER)
    high = high_product(w, POWERS[at])
    low = w * POWERS[at]
    if (high & 0x1FF) == 0x1FF:
        second = high_product(w, POWERS[at + 1])
        low = low + second
        if below(low, second):
            high += 1
    if low == -1 and (q < -27 or q > 55):
        return 0.0, False
    upper = shift_right(high, 63)
    mantissa = shift_right(high, upper + 9)
    power = ((217706 * q) >> 16) + 63 + upper - zeros + 1023
    if power <= 0:
        return 0.0, False
    if (low == 0 or low == 1) and -4 <= q <= 23 and (mantissa & 3) == 1 and (mantissa << (upper + 9)) == high:
        mantissa &= -2  # exactly half way: to even
    mantissa = (mantissa + (mantissa & 1)) >> 1
    if mantissa >= 1 << 53:
        mantissa = 1 << 52
        power += 1
    if power >= 2047:
        return 0.0, False
    return float_of_bits((mantissa & ((1 << 52) - 1)) | (power << 52)), True


@helper
def exponent_at(text, p):
    """A power of ten, `e` and digits, at p: it, 0 where there is none, the position after it, and whether it is one."""
    if text[p] != LETTER_E and text[p] != CAPITAL_E:
        return 0, p, True
    p += 1
    negative = text[p] == MINUS
    if negative or text[p] == PLUS:
        p += 1
    exponent, first = 0, p
    while ZERO_DIGIT <= text[p] <= NINE_DIGIT:
        if exponent < 100000:
            exponent = exponent * 10 + (text[p] - ZERO_DIGIT)
        p += 1
    return (-exponent if negative else exponent), p, p > first


@helper
def long_number(text, p):
    """Any decimal number without sign at p: its value, the position after it, and whether it could be read.

    At most 19 significant digits are kept; if more follow, the number lies between m and m + 1 and is accepted if both
    round to the same double.
    """
    m = kept = power = 0
    cut = False
    digits = 0
    after_point = False
    while True:
        c = text[p]
        if ZERO_DIGIT <= c <= NINE_DIGIT:
            digits += 1
            if kept < 19:
                m = m * 10 + (c - ZERO_DIGIT)
                if m != 0:
                    kept += 1
                if after_point:
                    power -= 1
            else:
                cut |= c != ZERO_DIGIT
                if not after_point:
                    power += 1
        elif c == POINT and not after_point:
            after_point = True
        else:
            break
        p += 1
    exponent, p, fine = exponent_at(text, p)
    if digits == 0 or not fine:
        return 0.0, p, False
    power += exponent
    value, decided = scaled(m, power)
    if cut and decided:
        next_value, decided = scaled(m + 1, power)
        decided = decided and next_value == value
    return value, p, decided


@helper
def number(text, p):
    """A decimal number at p: its value, the position after it, and whether it could be read.

    Reads up to seven digits before the point, and eighteen in all after leading zeros, eight bytes at a time.
    """
    c = text[p]
    negative = c == MINUS
    if negative or c == PLUS:
        p += 1
    word = load8(text, p)
    n = digits_at_front(word)
    m, q, places, fits = few_digits(word, min(n, 7)), p + n, 0, n < 8
    if fits and text[q] == POINT:
        q += 1
        k = 8
        while fits and k == 8:
            word = load8(text, q)
            k = digits_at_front(word)
            fits = m < INT_TENS[18 - k]
            m = m * INT_TENS[k] + (eight_digits(word ^ ASCII_ZEROS) if k == 8 else few_digits(word, k))
            places += k
            q += k
    value, fine = 0.0, False
    if fits and n + places > 0 and m < MAX_EXACT_INTEGER and places <= 22 and text[q] <= BLANK:
        value, fine = m / TENS[places], True  # the usual case, without the branches below
    elif fits and n + places > 0:
        exponent, q, fine = exponent_at(text, q)
        if fine:
            value, fine = scaled(m, exponent - places)
    if not fine:
        value, q, fine = long_number(text, p)
    return (-value if negative else value), q, fine


@helper
def label_at(text, p, form):
    """The label of a row that begins at p, the position after it, and whether it could be read; form: see LABELLED."""
    if form == SOME_LABELLED or form == UNLABELLED:
        if text[p] == 110 and text[p + 1] == 97 and text[p + 2] == 110 and text[p + 3] <= BLANK:
            return math.nan, p + 3, text[p + 3] == BLANK or text[p + 3] == NEWLINE or text[p + 3] == TAB
        if form == UNLABELLED:
            return math.nan, p, True
    label, p, fine = number(text, p)
    return label, p, fine and (text[p] == BLANK or text[p] == NEWLINE or text[p] == TAB)


@helper
def pair_at(text, p):
    """The index and value of the next pair in a line, the position after it or on the line's end, and what is there.

    PAIR, LINE_END, or UNUSUAL: anything that slower code has to read.
    """
    while text[p] == BLANK or text[p] == TAB:
        p += 1
    word = load8(text, p)
    n = digits_at_front(word)
    if n == 0:
        if text[p] == RETURN and text[p + 1] == NEWLINE:
            p += 1
        return 0, 0.0, p, LINE_END if text[p] == NEWLINE else UNUSUAL
    if n < 8:
        index = few_digits(word, n)
        p += n
    else:
        index = 0
        while ZERO_DIGIT <= text[p] <= NINE_DIGIT and index <= LAST_INDEX:
            index = index * 10 + (text[p] - ZERO_DIGIT)
            p += 1
    if text[p] != COLON or index > LAST_INDEX:
        return index, 0.0, p, UNUSUAL
    value, p, fine = number(text, p + 1)
    c = text[p]
    fine = fine and (c == BLANK or c == NEWLINE or c == TAB or (c == RETURN and text[p + 1] == NEWLINE))
    return index, value, p, PAIR if fine else UNUSUAL


@loop("void(u1[], i8[], i8, i8)")
def count_marks(text, facts, start, stop):
    """Facts about text[start:stop]: newlines, colons, length up to the first newline (-1: none), colons before it."""
    head = start
    colons = 0
    while head < stop and text[head] != NEWLINE:
        colons += text[head] == COLON
        head += 1
    facts[2] = head - start if head < stop else -1
    facts[3] = colons
    lines = 0
    position = head
    while position < stop:  # in strips of 128, whose counts fit into bytes
        strip = text[position : min(position + 128, stop)]  # whose indices are seen not to be negative
        strip_lines = strip_colons = 0
        for i in range(len(strip)):
            strip_lines += strip[i] == NEWLINE
            strip_colons += strip[i] == COLON
        lines += strip_lines
        colons += strip_colons
        position += 128
    facts[0], facts[1] = lines, colons


@loop("i8(u1[], f8[], i8[], i4[], f8|f4[], i8[], i8, i8, i8, i8, i8, i8)")
def parse_lines(text, labels, indptr, indices, values, state, stop, last_row, last_pair, columns, least, form):
    """Read the lines of text[state[0]:stop], which ends in a newline, into the rows from state[1] on.

    state: position, row, pair, largest index so far; updated line by line.  Returns 0 at the end of the text, 1 at the
    start of a line that is not of the ordinary form or does not fit before last_row, last_pair.
    Indices are stored minus 1.  columns: numbers before a row's pairs (1 for data, the label); least: the smallest
    allowed index, 0 or 1.  form: see LABELLED.
    """
    p, row, pair, largest = state[0], state[1], state[2], state[3]
    stopped = 0
    while p < stop:
        state[0], state[1], state[2], state[3] = p, row, pair, largest
        if row >= last_row:
            stopped = 1
            break
        for k in range(row * columns, (row + 1) * columns):
            while text[p] == BLANK or text[p] == TAB:
                p += 1
            labels[k], p, fine = label_at(text, p, form)
            if not fine:
                stopped = 1
                break
        if stopped:
            break
        previous = least - 1
        while True:
            index, value, p, found = pair_at(text, p)
            if found == LINE_END:
                break
            if found == UNUSUAL or index <= previous or pair >= last_pair:
                stopped = 1
                break
            values[pair] = value
            if math.isinf(values[pair]):  # of float32
                stopped = 1
                break
            indices[pair] = index - 1
            pair += 1
            previous = index
        if stopped:
            break
        if previous > largest:
            largest = previous
        p += 1
        row += 1
        indptr[row] = pair
    if stopped == 0:
        state[0], state[1], state[2], state[3] = p, row, pair, largest
    return stopped


@loop("i8(f8[], f8[], i8[], i8[])")
def number_classes(labels, values, number, counts):
    """number_i = the index of label i in `values`, the distinct labels in order of appearance, with their counts.

    Returns how many there are, or -1 if a label is not a 32-bit integer or `values` is full.  counts: initially 0.
    """
    found = last = 0
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
