/* The reader of msgpack elements that the decoder of modules stands on. */
#include "ir/msgpack/reader.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "ir/base/cursor.h"

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

/* Reads the next element, whose first byte the caller has looked at. False: it is not all there. */
static bool take(struct codec_reader *r, struct cursor_item *item, const char *what)
{
    struct cursor c = {r->bytes + r->at, r->bytes + r->size};
    bool whole = cursor_next(&c, item), sized = item->type >= CURSOR_STRING;
    if (whole || sized) r->at = (size_t)(c.at - r->bytes);
    if (whole) return true;
    if (!sized)
        codec_fail(r, "the module ends in the middle of a number");
    else if (item->type == CURSOR_ARRAY)
        codec_fail(r, "%s claims %llu elements", what, (unsigned long long)item->number);
    else
        codec_fail(r, "%s claims %llu bytes where %zu are left", what, (unsigned long long)item->number,
                   r->size - r->at);
    return false;
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
    struct cursor_item item;
    if (first >= 0x80 && (first < 0xcc || first > 0xcf)) {
        codec_fail(r, "%s is not a number from 0", what);
        return 0;
    }
    if (!take(r, &item, what)) return 0;
    if (item.number <= most) return item.number;
    codec_fail(r, "%s is %llu, must be at most %llu", what, (unsigned long long)item.number, (unsigned long long)most);
    return 0;
}

int64_t codec_read_int(struct codec_reader *r, const char *what)
{
    uint8_t first = peek(r);
    struct cursor_item item;
    if (first < 0xe0 && (first < 0xd0 || first > 0xd3)) return (int64_t)codec_read_uint(r, INT64_MAX, what);
    return take(r, &item, what) ? (int64_t)item.number : 0;
}

bool codec_at_array(const struct codec_reader *r)
{
    uint8_t first = peek(r);
    return (first & 0xf0) == 0x90 || first == 0xdc || first == 0xdd;
}

uint32_t codec_read_array(struct codec_reader *r, const char *what)
{
    struct cursor_item item;
    if (codec_at_array(r)) return take(r, &item, what) ? (uint32_t)item.number : 0;
    codec_fail(r, "%s is not an array", what);
    return 0;
}

void codec_read_array_of(struct codec_reader *r, uint32_t n, const char *what)
{
    uint32_t actual = codec_read_array(r, what);
    if (actual != n) codec_fail(r, "%s has %u elements, must have %u", what, actual, n);
}

const char *codec_read_str(struct codec_reader *r, size_t *n, const char *what)
{
    uint8_t first = peek(r);
    struct cursor_item item;
    *n = 0;
    if ((first & 0xe0) != 0xa0 && (first < 0xd9 || first > 0xdb)) {
        codec_fail(r, "%s is not a string", what);
        return NULL;
    }
    if (!take(r, &item, what)) return NULL;
    if (memchr(item.bytes, 0, item.number)) {
        codec_fail(r, "%s holds a zero byte", what);
        return NULL;
    }
    *n = item.number;
    return (const char *)item.bytes;
}

const uint8_t *codec_read_bin(struct codec_reader *r, size_t *n, const char *what)
{
    uint8_t first = peek(r);
    struct cursor_item item;
    *n = 0;
    if (first < 0xc4 || first > 0xc6) {
        codec_fail(r, "%s is not bytes", what);
        return NULL;
    }
    if (!take(r, &item, what)) return NULL;
    *n = item.number;
    return item.bytes;
}
