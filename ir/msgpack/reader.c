/* The reader of msgpack elements that the decoder of modules stands on. */
#include "ir/msgpack/reader.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void codec_fail(struct codec_reader *r, const char *format, ...)
{
    if (r->failed) return;
    r->failed = true;
    char text[256];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    diag_add(r->list, NULL, NULL, 0, 0, "byte %zu: %s", r->at, text);
}

/* The first byte of the next element without reading it; 0xc1, which msgpack never uses, at the end. */
static uint8_t peek(const struct codec_reader *r)
{
    return r->failed || r->at >= r->size ? 0xc1 : r->bytes[r->at];
}

/* n bytes, most significant first, after the first byte of an element, which is passed too. */
static uint64_t number(struct codec_reader *r, unsigned n)
{
    if (r->size - r->at < 1 + n) {
        codec_fail(r, "the module ends in the middle of a number");
        return 0;
    }
    uint64_t value = 0;
    for (unsigned i = 1; i <= n; i++) value = value << 8 | r->bytes[r->at + i];
    r->at += 1 + n;
    return value;
}

/* Passes n bytes of payload and returns where they are. */
static const uint8_t *payload(struct codec_reader *r, uint64_t n, const char *what)
{
    if (r->failed) return NULL;
    if (n > r->size - r->at) {
        codec_fail(r, "%s claims %llu bytes where %zu are left", what, (unsigned long long)n, r->size - r->at);
        return NULL;
    }
    const uint8_t *p = r->bytes + r->at;
    r->at += n;
    return p;
}

bool codec_read_nil(struct codec_reader *r)
{
    if (peek(r) != 0xc0) return false;
    r->at++;
    return true;
}

bool codec_read_bool(struct codec_reader *r, const char *what)
{
    uint8_t first = peek(r);
    if (first != 0xc2 && first != 0xc3) {
        codec_fail(r, "%s is not true or false", what);
        return false;
    }
    r->at++;
    return first == 0xc3;
}

uint64_t codec_read_uint(struct codec_reader *r, uint64_t most, const char *what)
{
    uint8_t first = peek(r);
    uint64_t value = 0;
    if (first < 0x80) {
        value = first;
        r->at++;
    } else if (first >= 0xcc && first <= 0xcf) {
        value = number(r, 1u << (first - 0xcc));
    } else {
        codec_fail(r, "%s is not a number from 0", what);
    }
    if (value <= most) return value;
    codec_fail(r, "%s is %llu, must be at most %llu", what, (unsigned long long)value, (unsigned long long)most);
    return 0;
}

int64_t codec_read_int(struct codec_reader *r, const char *what)
{
    uint8_t first = peek(r);
    if (first >= 0xe0) {
        r->at++;
        return (int8_t)first;
    }
    if (first >= 0xd0 && first <= 0xd3) {
        unsigned bytes = 1u << (first - 0xd0), unused = 64 - 8 * bytes;
        return (int64_t)(number(r, bytes) << unused) >> unused;
    }
    return (int64_t)codec_read_uint(r, INT64_MAX, what);
}

bool codec_at_array(const struct codec_reader *r)
{
    uint8_t first = peek(r);
    return (first & 0xf0) == 0x90 || first == 0xdc || first == 0xdd;
}

uint32_t codec_read_array(struct codec_reader *r, const char *what)
{
    uint8_t first = peek(r);
    uint64_t n = 0;
    if (!codec_at_array(r)) {
        codec_fail(r, "%s is not an array", what);
    } else if (first < 0xa0) {
        n = first & 15;
        r->at++;
    } else {
        n = number(r, first == 0xdc ? 2 : 4);
    }
    if (n > r->size - r->at) codec_fail(r, "%s claims %llu elements", what, (unsigned long long)n);
    return r->failed ? 0 : (uint32_t)n;
}

void codec_read_array_of(struct codec_reader *r, uint32_t n, const char *what)
{
    uint32_t actual = codec_read_array(r, what);
    if (actual != n) codec_fail(r, "%s has %u elements, must have %u", what, actual, n);
}

const char *codec_read_str(struct codec_reader *r, size_t *n, const char *what)
{
    uint8_t first = peek(r);
    uint64_t length = 0;
    if ((first & 0xe0) == 0xa0) {
        length = first & 31;
        r->at++;
    } else if (first >= 0xd9 && first <= 0xdb) {
        length = number(r, 1u << (first - 0xd9));
    } else {
        codec_fail(r, "%s is not a string", what);
    }
    const char *s = (const char *)payload(r, length, what);
    if (s && memchr(s, 0, length)) {
        codec_fail(r, "%s holds a zero byte", what);
        return NULL;
    }
    *n = length;
    return s;
}

const uint8_t *codec_read_bin(struct codec_reader *r, size_t *n, const char *what)
{
    uint8_t first = peek(r);
    uint64_t length = 0;
    if (first >= 0xc4 && first <= 0xc6) {
        length = number(r, 1u << (first - 0xc4));
    } else {
        codec_fail(r, "%s is not bytes", what);
    }
    *n = length;
    return payload(r, length, what);
}
