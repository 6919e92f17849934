/* One conversion of a format after the other; the C library writes the numbers. */
#include "ir/printf/format.h"
#include "ir/core/float.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ir/core/ir.h"

enum { MAX_WIDTH = 4096, MAX_PRECISION = 1024, MAX_LANES = 16 };

/* %[flags][width][.precision][vN][hh|h|hl|l]conversion */
struct directive {
    char flags[8];
    int width, precision; /* -1: not given */
    unsigned lanes;       /* 1: no vector */
    unsigned bytes;       /* of an integer, as the length says; 0: the argument's own */
    char conversion;
};

/* The argument that is next; lanes 0: there is none. */
struct argument {
    enum ir_format_kind kind;
    unsigned bytes, lanes;
    const uint8_t *data;
};

struct formatter {
    struct strbuf *to;
    const uint8_t *args;
    uint64_t left;
    ir_format_string *string;
    void *data;
};

/* ---- reading the format ---- */

static int number(const char **at, int most)
{
    int n = 0;
    for (; **at >= '0' && **at <= '9'; ++*at)
        if (n <= most) n = n * 10 + (**at - '0');
    return n < most ? n : most;
}

static unsigned length_bytes(const char **at)
{
    static const struct {
        const char *text;
        unsigned bytes;
    } lengths[] = {{"hh", 1}, {"hl", 4}, {"h", 2}, {"l", 8}};
    for (size_t k = 0; k < sizeof lengths / sizeof *lengths; k++) {
        size_t n = strlen(lengths[k].text);
        if (strncmp(*at, lengths[k].text, n) != 0) continue;
        *at += n;
        return lengths[k].bytes;
    }
    return 0;
}

/* Past the directive; false: it is none. */
static bool read_directive(const char **at, struct directive *d)
{
    const char *p = *at + 1;
    size_t flags = strspn(p, "-+ #0");
    *d = (struct directive){.width = -1, .precision = -1, .lanes = 1};
    memcpy(d->flags, p, flags < sizeof d->flags ? flags : sizeof d->flags - 1);
    p += flags;
    if (*p >= '0' && *p <= '9') d->width = number(&p, MAX_WIDTH);
    if (*p == '.') {
        p++;
        d->precision = number(&p, MAX_PRECISION);
    }
    if (*p == 'v') {
        p++;
        d->lanes = (unsigned)number(&p, 100);
        if (d->lanes != 2 && d->lanes != 3 && d->lanes != 4 && d->lanes != 8 && d->lanes != 16) return false;
    }
    d->bytes = length_bytes(&p);
    d->conversion = *p;
    if (!*p || !strchr("diouxXfFeEgGaAcsp", *p)) return false;
    *at = p + 1;
    return true;
}

bool ir_format_next(const char **at, char *conversion)
{
    struct directive d;
    for (const char *p = strchr(*at, '%'); p; p = strchr(p, '%')) {
        if (p[1] == '%') {
            p += 2;
        } else if (read_directive(&p, &d)) {
            *at = p;
            *conversion = d.conversion;
            return true;
        } else {
            p++;
        }
    }
    return false;
}

/* ---- arguments ---- */

static struct argument next_argument(struct formatter *f)
{
    struct argument a = {.lanes = 0};
    uint64_t word = 0;
    if (f->left >= sizeof word) memcpy(&word, f->args, sizeof word);
    unsigned bytes = word >> 8 & 255, lanes = word >> 16 & 255;
    uint64_t room = ir_format_room(bytes, lanes);
    bool good = lanes && lanes <= MAX_LANES && bytes && bytes <= 8 && (bytes & (bytes - 1)) == 0;
    if (!good || f->left - sizeof word < room) {
        f->left = 0;
        return a;
    }
    a = (struct argument){(enum ir_format_kind)(word & 255), bytes, lanes, f->args + sizeof word};
    f->args += sizeof word + room;
    f->left -= sizeof word + room;
    return a;
}

static double float_of(const struct argument *a, unsigned lane)
{
    const uint8_t *at = a->data + lane * a->bytes;
    uint16_t half;
    float single;
    double value;
    switch (a->bytes) {
    case 2: memcpy(&half, at, sizeof half); return ir_f16_to_float(half);
    case 4: memcpy(&single, at, sizeof single); return single;
    case 8: memcpy(&value, at, sizeof value); return value;
    default: return 0;
    }
}

/* The lowest bytes of a component, sign- or zero-extended. */
static uint64_t int_of(const struct argument *a, unsigned lane, unsigned bytes, bool is_signed)
{
    uint64_t value = 0;
    if (a->kind == IR_FORMAT_FLOAT) return (uint64_t)(int64_t)float_of(a, lane);
    memcpy(&value, a->data + lane * a->bytes, a->bytes);
    unsigned bits = 8 * (bytes && bytes < a->bytes ? bytes : a->bytes);
    if (bits == 64) return value;
    value &= ((uint64_t)1 << bits) - 1;
    return is_signed && value >> (bits - 1) ? value | ~(((uint64_t)1 << bits) - 1) : value;
}

/* ---- writing ---- */

static void add_padded(struct formatter *f, const struct directive *d, const char *text, size_t n)
{
    size_t width = d->width < 0 ? 0 : (size_t)d->width, gap = width > n ? width - n : 0;
    if (!strchr(d->flags, '-')) strbuf_printf(f->to, "%*s", (int)gap, "");
    strbuf_add_bytes(f->to, text, n);
    if (strchr(d->flags, '-')) strbuf_printf(f->to, "%*s", (int)gap, "");
}

/* The directive as the C library has it, with that length. */
static const char *spelled(const struct directive *d, const char *length, char *buf, size_t size)
{
    int n = snprintf(buf, size, "%%%s", d->flags);
    if (d->width >= 0) n += snprintf(buf + n, size - (size_t)n, "%d", d->width);
    if (d->precision >= 0) n += snprintf(buf + n, size - (size_t)n, ".%d", d->precision);
    snprintf(buf + n, size - (size_t)n, "%s%c", length, d->conversion);
    return buf;
}

static void add_string(struct formatter *f, const struct directive *d, const struct argument *a)
{
    uint64_t address = int_of(a, 0, 8, false);
    uint64_t most = d->precision >= 0 ? (uint64_t)d->precision : IR_FORMAT_MAX;
    struct strbuf text = {0};
    if (a->kind != IR_FORMAT_POINTER || !address) {
        strbuf_add(&text, "(null)");
    } else {
        f->string(f->data, address, most, &text);
    }
    add_padded(f, d, text.text ? text.text : "", text.size);
    free(text.text);
}

#pragma GCC diagnostic ignored "-Wformat-nonliteral"

static void add_lane(struct formatter *f, const struct directive *d, const struct argument *a, unsigned lane)
{
    char spec[48], byte;
    bool is_signed = d->conversion == 'd' || d->conversion == 'i';
    switch (d->conversion) {
    case 'd':
    case 'i':
    case 'o':
    case 'u':
    case 'x':
    case 'X':
        strbuf_printf(f->to, spelled(d, "ll", spec, sizeof spec),
                      (unsigned long long)int_of(a, lane, d->bytes, is_signed));
        break;
    case 'c':
        byte = (char)int_of(a, lane, 1, false);
        add_padded(f, d, &byte, 1);
        break;
    case 's': add_string(f, d, a); break;
    case 'p': strbuf_printf(f->to, "0x%llx", (unsigned long long)int_of(a, lane, 8, false)); break;
    default:
        strbuf_printf(f->to, spelled(d, "", spec, sizeof spec),
                      a->kind == IR_FORMAT_FLOAT ? float_of(a, lane) : (double)(int64_t)int_of(a, lane, 8, true));
        break;
    }
}

/* A directive without an argument stands for itself. */
static void add_directive(struct formatter *f, const struct directive *d, const char *text, size_t n)
{
    struct argument a = next_argument(f);
    if (!a.lanes) {
        strbuf_add_bytes(f->to, text, n);
        return;
    }
    unsigned lanes = d->lanes < a.lanes ? d->lanes : a.lanes;
    for (unsigned k = 0; k < lanes; k++) {
        if (k) strbuf_add(f->to, ",");
        add_lane(f, d, &a, k);
    }
}

void ir_format(struct strbuf *to, const char *format, const void *args, uint64_t size, ir_format_string *string,
               void *data)
{
    struct formatter f = {to, args, size, string, data};
    size_t began = to->size;
    for (const char *at = format; *at && to->size - began < IR_FORMAT_MAX;) {
        struct directive d;
        const char *from = at;
        size_t plain = strcspn(at, "%");
        strbuf_add_bytes(to, at, plain);
        at += plain;
        if (!*at) break;
        if (at[1] == '%') {
            strbuf_add(to, "%");
            at += 2;
        } else if (from = at, read_directive(&at, &d)) {
            add_directive(&f, &d, from, (size_t)(at - from));
        } else {
            strbuf_add_bytes(to, at++, 1);
        }
    }
    if (to->size - began <= IR_FORMAT_MAX) return;
    to->size = began + IR_FORMAT_MAX;
    to->text[to->size] = 0;
}
