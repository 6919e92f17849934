/* Scalar constants as text and back, exactly. */
#include "ir/text/number.h"

#include <errno.h>
#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ir/core/float.h"

enum { LONGEST = 400 };

/* The decimal point must not follow the user's locale. */
static locale_t c_locale;

__attribute__((constructor)) static void make_locale(void)
{
    c_locale = newlocale(LC_ALL_MASK, "C", (locale_t)0);
}

static uint64_t low_bits(unsigned n)
{
    return n < 64 ? (1ull << n) - 1 : UINT64_MAX;
}

static unsigned kind_bits(enum ir_kind kind)
{
    return ir_type_bits(IR_TYPE(kind, 1, 0));
}

static bool is_float(enum ir_kind kind)
{
    return ir_type_is_float(IR_TYPE(kind, 1, 0));
}

/* ---- reading ---- */

static const char *parse_bits(enum ir_kind kind, const char *digits, uint64_t *bits)
{
    char *end;
    errno = 0;
    *bits = strtoull(digits, &end, 16);
    if (*end || end == digits) return "is not a number";
    if (errno || *bits > low_bits(kind_bits(kind))) return "has more bits than its type";
    return NULL;
}

static const char *parse_int(enum ir_kind kind, const char *text, uint64_t *bits)
{
    char *end;
    bool negative = *text == '-';
    errno = 0;
    uint64_t n = strtoull(text + negative, &end, 10);
    if (*end == '.' || *end == 'e' || *end == 'E') return "is not a whole number";
    if (*end || end == text + negative) return "is not a number";
    uint64_t half = 1ull << (kind_bits(kind) - 1);
    if (errno || (negative ? n > half : n > low_bits(kind_bits(kind)))) return "is out of the range of its type";
    *bits = (negative ? -n : n) & low_bits(kind_bits(kind));
    return NULL;
}

static const char *parse_float(enum ir_kind kind, const char *text, uint64_t *bits)
{
    char *end;
    double value = strtod_l(text, &end, c_locale);
    if (*end || end == text) return "is not a number";
    if (kind == IR_KIND_F32) value = (double)strtof_l(text, &end, c_locale); /* one rounding, not two */
    *bits = ir_float_bits(kind, value);
    bool named = strpbrk(text, "in") != NULL; /* inf and nan */
    if (!named && isinf(ir_float_value(kind, *bits))) return "is out of the range of its type";
    return NULL;
}

const char *ir_number_parse(enum ir_kind kind, const char *text, size_t n, uint64_t *bits)
{
    char copy[LONGEST + 1];
    if (n > LONGEST) return "is too long";
    memcpy(copy, text, n);
    copy[n] = 0;
    bool truth = strcmp(copy, "true") == 0;
    if (truth || strcmp(copy, "false") == 0) {
        if (kind != IR_KIND_BOOL) return "is not a number";
        *bits = truth;
        return NULL;
    }
    if (kind == IR_KIND_BOOL) return "is neither true nor false";
    if (copy[0] == '0' && (copy[1] == 'x' || copy[1] == 'X')) return parse_bits(kind, copy + 2, bits);
    return is_float(kind) ? parse_float(kind, copy, bits) : parse_int(kind, copy, bits);
}

/* ---- writing ---- */

static void format_float(enum ir_kind kind, uint64_t bits, char text[IR_NUMBER_TEXT])
{
    double value = ir_float_value(kind, bits);
    uint64_t again;
    locale_t before = uselocale(c_locale);
    bool exact = false;
    /* The fewest digits that do; whole numbers people write out in full. */
    bool whole = fabs(value) < 1e9 && value == trunc(value);
    for (int digits = 1; isfinite(value) && digits <= 17 && !exact; digits++) {
        if (whole) {
            snprintf(text, IR_NUMBER_TEXT, "%.0f", value);
        } else {
            snprintf(text, IR_NUMBER_TEXT, "%.*g", digits, value);
        }
        exact = !ir_number_parse(kind, text, strlen(text), &again) && again == bits;
    }
    uselocale(before);
    if (!exact) {
        snprintf(text, IR_NUMBER_TEXT, "0x%0*llx", (int)kind_bits(kind) / 4, (unsigned long long)bits);
    } else if (!strpbrk(text, ".e")) {
        strcat(text, ".0");
    }
}

void ir_number_format(enum ir_kind kind, uint64_t bits, char text[IR_NUMBER_TEXT])
{
    if (kind == IR_KIND_BOOL) {
        snprintf(text, IR_NUMBER_TEXT, bits ? "true" : "false");
    } else if (is_float(kind)) {
        format_float(kind, bits, text);
    } else {
        unsigned shift = 64 - kind_bits(kind);
        long long value = (long long)(bits << shift) >> shift;
        snprintf(text, IR_NUMBER_TEXT, "%lld", value);
    }
}
