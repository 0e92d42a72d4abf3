"""Numbers printed as C's %g and %.17g do, digit for digit, and the support vectors of a kernel model.

A support vector's value has 8 digits as in LIBSVM, or as many more as it takes to read the same double again.

x = w 2^e with the topmost bit of the word w set.  With 10^k such that x 10^k has the required digits before the point,
the product of w and the 128 leading bits of 5^k gives these digits and at least 70 bits of the fraction, with an error
below two units in the last bit.  If this does not decide the rounding, the caller prints the number with Python.
"""

from __future__ import annotations

from svmtool.compiled import _library, helper, loop

if _library is None:
    from svmtool.compiled.loops.text.power_table import (
        FIRST_POWER,
        INT_TENS,
        POWERS,
        below,
        bits_of_float,
        float_of_bits,
        high_product,
        leading_zeros,
        shift_right,
        store8,
        trailing_zeros,
    )  # fmt: skip
    from svmtool.compiled.loops.text.text_loops import (
        ASCII_ZEROS,
        BLANK,
        COLON,
        LETTER_E,
        MINUS,
        NEWLINE,
        PLUS,
        POINT,
        ZERO_DIGIT,
        scaled,
    )

FEATURE_SPACE = 128  # free bytes needed in the buffer for a label, a feature or a number: whole words are stored
WHOLE = 8  # as a number of digits: at least 8, and so many more that the same double is read
SIGN_OFF = 0x7FFFFFFFFFFFFFFF
MANTISSA = (1 << 52) - 1
WORD_INF, WORD_NAN = (int.from_bytes(word, "little") for word in (b"inf", b"nan"))
DONE, UNDECIDED, FULL = range(3)  # answers: all is printed; rounding of a number is not decided; the buffer is full


@helper
def digit_bytes(v):
    """The eight decimal digits of v < 10^8 as bytes 0..9, most significant lowest."""
    merged = v // 10000
    merged |= (v - merged * 10000) << 32
    top = ((merged * 10486) >> 20) & 0x7F0000007F
    pairs = ((merged - 100 * top) << 16) + top
    tens = ((pairs * 103) >> 10) & 0x000F000F000F000F
    return tens + ((pairs - 10 * tens) << 8)


@helper
def decimal(bits, digits):
    """The `digits` leading decimal digits of a positive double, as one number, and its power of ten.

    The number is -1 if the rounding is not decided.
    """
    m = bits & MANTISSA
    e = (bits >> 52) - 1075
    if e == -1075:
        e = -1074
    else:
        m |= MANTISSA + 1
    zeros = leading_zeros(m)
    w = m << zeros
    e -= zeros
    decade = (((e + 63) * 78913) >> 18) - 1
    d = INT_TENS[digits]
    at = k = high = low = s = 0
    while d >= INT_TENS[digits]:  # the first decade may be one too small
        decade += 1
        k = digits - 1 - decade
        at = 2 * (k - FIRST_POWER)
        high = high_product(w, POWERS[at])
        low = w * POWERS[at]
        second = high_product(w, POWERS[at + 1])
        low += second
        if below(low, second):
            high += 1
        s = -(e + ((217706 * k) >> 16) + 1)
        d = shift_right(high, s)
    exact = 0 <= k <= 55
    rest = high & ((1 << s) - 1)
    half = 1 << (s - 1)
    if not exact:
        if (rest == half and (low == 0 or low == 1)) or (rest == half - 1 and (low == -1 or low == -2)):
            return -1, decade
    if rest > half or (rest == half and (low != 0 or (exact and w * POWERS[at + 1] != 0) or (d & 1) == 1)):
        d += 1
    if d >= INT_TENS[digits]:
        d = d // 10
        decade += 1
    return d, decade


@helper
def shortest(bits):
    """`decimal` with the fewest digits, at least 8, that give the same positive double, and their number.

    A double has at most one decimal of up to 15 digits, which its 15 digits with trailing zeros are.
    """
    x = float_of_bits(bits)
    d = decade = digits = 0
    for digits in (8, 15, 16, 17):
        d, decade = decimal(bits, digits)
        if d < 0:
            break
        value, decided = scaled(d, decade - digits + 1)
        if not decided:
            d = -1
            break
        if value == x:
            break
    if digits == 15:
        end = d
        while end % 10 == 0:
            end = end // 10
            digits -= 1
        d = end
    return d, decade, digits


@helper
def put_whole(out, p, n):
    """Print an integer 0 <= n < 10^8 as %d; returns the position after it.  FEATURE_SPACE bytes must be free."""
    word = digit_bytes(n)
    lead = min(trailing_zeros(word) >> 3, 7)
    store8(out, p, shift_right(word | ASCII_ZEROS, 8 * lead))
    return p + 8 - lead


@helper
def put_number(out, p, x, digits):
    """Print x at out[p] as %.{digits}g, digits 6, 17 or WHOLE; returns the position after it, or -1 if the rounding is
    not decided.

    FEATURE_SPACE bytes must be free; some after the number are overwritten.
    """
    bits = bits_of_float(x)
    if bits < 0:
        out[p] = MINUS
        p += 1
        bits &= SIGN_OFF
    if bits >= 0x7FF0000000000000:
        store8(out, p, WORD_INF if bits == 0x7FF0000000000000 else WORD_NAN)
        return p + 3
    if bits == 0:
        out[p] = ZERO_DIGIT
        return p + 1
    whole = int(abs(x)) if bits < 0x43E0000000000000 else -1  # below 2^63
    if 0 < whole < 1000000 and whole == abs(x):
        return put_whole(out, p, whole)
    if digits == WHOLE:
        d, decade, digits = shortest(bits)
    else:
        d, decade = decimal(bits, digits)
    return -1 if d < 0 else put_digits(out, p, d * INT_TENS[17 - digits], decade, digits)


@helper
def put_digits(out, p, d, decade, digits):
    """Print 17 decimal digits d, of which the first stands for 10^decade, as %.{digits}g; see put_number."""
    # The digits: one, then two words of eight.
    first = d // 10000000000000000
    d -= first * 10000000000000000
    middle = d // 100000000
    one = digit_bytes(middle)
    two = digit_bytes(d - middle * 100000000)
    if two != 0:
        n = 17 - (leading_zeros(two) >> 3)
    elif one != 0:
        n = 9 - (leading_zeros(one) >> 3)
    else:
        n = 1
    one |= ASCII_ZEROS
    two |= ASCII_ZEROS
    if -4 <= decade < 0:
        store8(out, p, 0x3030303030302E30)  # 0.000000
        p += 1 - decade
        out[p] = ZERO_DIGIT + first
        put_words(out, p + 1, one, two)
        return p + n
    out[p] = ZERO_DIGIT + first
    if decade < 0 or decade >= digits:
        if n > 1:
            out[p + 1] = POINT
            put_words(out, p + 2, one, two)
            p += n
        return put_exponent(out, p + 1, decade)
    # 0 <= decade < digits: decade + 1 digits, the point, the others.
    put_words(out, p + 2, one, two)
    for i in range(p + 1, p + 1 + decade):
        out[i] = out[i + 1]
    out[p + 1 + decade] = POINT
    return p + n + 1 if n > decade + 1 else p + decade + 1


@helper
def put_words(out, p, one, two):
    """Store two words of eight digits."""
    store8(out, p, one)
    store8(out, p + 8, two)


@helper
def put_exponent(out, p, decade):
    """Print `e`, a sign and two or three digits; returns the position after them."""
    out[p] = LETTER_E
    out[p + 1] = MINUS if decade < 0 else PLUS
    decade = abs(decade)
    p += 2
    if decade >= 100:
        out[p] = ZERO_DIGIT + decade // 100
        decade %= 100
        p += 1
    out[p] = ZERO_DIGIT + decade // 10
    out[p + 1] = ZERO_DIGIT + decade % 10
    return p + 2


@helper
def put_index(out, p, n):
    """Print 0 <= n <= 2^31 and a colon."""
    if n < 100000000:
        p = put_whole(out, p, n)
    else:
        top = n // 100000000
        p = put_whole(out, p, top)
        store8(out, p, digit_bytes(n - top * 100000000) | ASCII_ZEROS)
        p += 8
    out[p] = COLON
    return p + 1


@loop("i8(u1[], f8[], i8[], i4[], f8[], i8[], i8, i8, i8, i8)")
def support_text(out, coef, indptr, indices, values, state, columns, coef_digits, digits, closed):
    """Print each support vector's coefficients as %.{coef_digits}g and its pairs as `%d:%.{digits}g`, blanks between
    them and, if `closed`, after them; coef_digits 6 or 17, digits 17 or WHOLE.

    coef is (columns, support vectors).  state: row, next coefficient or pair in it, position in out (0 for an empty
    out).  Returns DONE, FULL, or UNDECIDED at a number for slower code.
    """
    s, item, p = state[0], state[1], state[2]
    n = len(indptr) - 1
    answer = DONE
    while s < n:
        pairs = indptr[s + 1] - indptr[s]
        while item < columns + pairs:
            if p + FEATURE_SPACE > len(out):
                answer = FULL
                break
            if item > 0:
                out[p] = BLANK
                p += 1
            if item < columns:
                q = put_number(out, p, coef[item * n + s], coef_digits)
            else:
                k = indptr[s] + item - columns
                q = put_number(out, put_index(out, p, indices[k] + 1), values[k], digits)
            if q < 0:
                answer = UNDECIDED
                break
            p = q
            item += 1
        if answer == DONE and p + FEATURE_SPACE > len(out):
            answer = FULL
        if answer != DONE:
            break
        if closed:
            out[p] = BLANK
            p += 1
        out[p] = NEWLINE
        p += 1
        s += 1
        item = 0
    state[0], state[1], state[2] = s, item, p
    return answer
