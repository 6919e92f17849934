/* Reading msgpack item by item, without allocation: for bytes nobody has checked yet. The one reader of messages,
   graphs and kernels. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum cursor_type {
    CURSOR_NIL,
    CURSOR_BOOL,
    CURSOR_UINT,
    CURSOR_NEGATIVE,
    CURSOR_FLOAT,
    CURSOR_STRING,
    CURSOR_BYTES,
    CURSOR_ARRAY,
    CURSOR_MAP
};

struct cursor {
    const uint8_t *at, *end;
};

struct cursor_item {
    enum cursor_type type;
    uint64_t number;      /* value of a bool or number (floats: their bits); bytes; elements; pairs */
    const uint8_t *bytes; /* of a string or bytes */
};

/* The next item's head (and content of strings and bytes). False where the input ends early, promises more elements
   than there are bytes left, or holds what is not used (extension types); then item has what is known, and c->at is
   where the content would be, if its size could be read. */
bool cursor_next(struct cursor *c, struct cursor_item *item);

enum { CURSOR_MAX_DEPTH = 16 }; /* that cursor_check() can allow */
/* Is the input exactly one value, nested no deeper than max_depth, of no more than max_items? NULL, or what is wrong.
 */
const char *cursor_check(const void *bytes, size_t size, uint32_t max_depth, uint32_t max_items);

/* Is it UTF-8 as the standard wants it: no overlong forms, no surrogates, nothing beyond U+10FFFF? */
bool cursor_is_utf8(const uint8_t *at, size_t size);
