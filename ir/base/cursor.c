/* A pull reader for msgpack, and the check that every received body passes before anything is built from it. */
#include "ir/base/cursor.h"

static uint64_t big_endian(const uint8_t *at, unsigned width)
{
    uint64_t value = 0;
    for (unsigned i = 0; i < width; i++) value = value << 8 | at[i];
    return value;
}

static bool take_number(struct cursor *c, unsigned width, uint64_t *number)
{
    if ((size_t)(c->end - c->at) < width) return false;
    *number = big_endian(c->at, width);
    c->at += width;
    return true;
}

static bool take_content(struct cursor *c, struct cursor_item *item, enum cursor_type type)
{
    item->type = type;
    if ((size_t)(c->end - c->at) < item->number) return false;
    item->bytes = c->at;
    c->at += item->number;
    return true;
}

static bool take_signed(struct cursor *c, struct cursor_item *item, unsigned width)
{
    if (!take_number(c, width, &item->number)) return false;
    unsigned unused = 64 - 8 * width;
    int64_t value = (int64_t)(item->number << unused) >> unused;
    item->number = (uint64_t)value;
    item->type = value < 0 ? CURSOR_NEGATIVE : CURSOR_UINT;
    return true;
}

static bool open_container(struct cursor *c, struct cursor_item *item, enum cursor_type type)
{
    item->type = type;
    /* An element takes a byte at least: what promises more is a lie, found before anyone allocates for it. */
    uint64_t least = type == CURSOR_MAP ? item->number * 2 : item->number;
    return least <= (uint64_t)(c->end - c->at);
}

bool cursor_next(struct cursor *c, struct cursor_item *item)
{
    *item = (struct cursor_item){0};
    if (c->at == c->end) return false;
    uint8_t head = *c->at++;
    if (head <= 0x7f || head >= 0xe0) {
        item->type = head <= 0x7f ? CURSOR_UINT : CURSOR_NEGATIVE;
        item->number = (uint64_t)(int64_t)(int8_t)head;
        return true;
    }
    if (head <= 0x8f) {
        item->number = head & 15;
        return open_container(c, item, CURSOR_MAP);
    }
    if (head <= 0x9f) {
        item->number = head & 15;
        return open_container(c, item, CURSOR_ARRAY);
    }
    if (head <= 0xbf) {
        item->number = head & 31;
        return take_content(c, item, CURSOR_STRING);
    }
    switch (head) {
    case 0xc0: item->type = CURSOR_NIL; return true;
    case 0xc2:
    case 0xc3:
        item->type = CURSOR_BOOL;
        item->number = head & 1;
        return true;
    case 0xc4:
    case 0xc5:
    case 0xc6: return take_number(c, 1u << (head - 0xc4), &item->number) && take_content(c, item, CURSOR_BYTES);
    case 0xca:
    case 0xcb: item->type = CURSOR_FLOAT; return take_number(c, 4u << (head - 0xca), &item->number);
    case 0xcc:
    case 0xcd:
    case 0xce:
    case 0xcf: item->type = CURSOR_UINT; return take_number(c, 1u << (head - 0xcc), &item->number);
    case 0xd0:
    case 0xd1:
    case 0xd2:
    case 0xd3: return take_signed(c, item, 1u << (head - 0xd0));
    case 0xd9:
    case 0xda:
    case 0xdb: return take_number(c, 1u << (head - 0xd9), &item->number) && take_content(c, item, CURSOR_STRING);
    case 0xdc:
    case 0xdd: return take_number(c, 2u << (head - 0xdc), &item->number) && open_container(c, item, CURSOR_ARRAY);
    case 0xde:
    case 0xdf: return take_number(c, 2u << (head - 0xde), &item->number) && open_container(c, item, CURSOR_MAP);
    default: return false; /* 0xc1 is never used; extension types are not part of the protocol */
    }
}

const char *cursor_check(const void *bytes, size_t size, uint32_t max_depth, uint32_t max_items)
{
    struct cursor c = {bytes, (const uint8_t *)bytes + size};
    uint64_t open[CURSOR_MAX_DEPTH + 1]; /* elements still to come, by level */
    uint32_t depth = 0, items = 0;
    if (max_depth > CURSOR_MAX_DEPTH) max_depth = CURSOR_MAX_DEPTH;
    open[0] = 1;
    while (open[depth] > 0) {
        struct cursor_item item;
        if (!cursor_next(&c, &item)) return "malformed or truncated msgpack";
        if (++items > max_items) return "too many elements";
        open[depth]--;
        if (item.type == CURSOR_ARRAY || item.type == CURSOR_MAP) {
            if (depth == max_depth) return "nested too deeply";
            open[++depth] = item.type == CURSOR_MAP ? item.number * 2 : item.number;
        }
        while (depth > 0 && open[depth] == 0) depth--;
    }
    return c.at == c.end ? NULL : "bytes after the end of the message";
}

bool cursor_is_utf8(const uint8_t *at, size_t size)
{
    static const uint32_t least[4] = {0, 0x80, 0x800, 0x10000};
    for (const uint8_t *end = at + size; at < end;) {
        unsigned more = *at < 0x80 ? 0 : *at >> 5 == 6 ? 1 : *at >> 4 == 14 ? 2 : *at >> 3 == 30 ? 3 : 4;
        if (more == 4 || (size_t)(end - at) <= more) return false;
        uint32_t code = more == 0 ? *at : *at & (0x3fu >> more);
        for (unsigned i = 1; i <= more; i++) {
            if (at[i] >> 6 != 2) return false;
            code = code << 6 | (at[i] & 63u);
        }
        if (code < least[more] || code > 0x10ffff || (code >= 0xd800 && code < 0xe000)) return false;
        at += more + 1;
    }
    return true;
}
