/* Text that may be shown. */
#include "daemon/broker/core/log_text.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "ir/base/cursor.h"

/* U+200B to U+200F, U+2028 to U+202E, U+2066 to U+2069: nothing to see, but lines end or run backwards. */
static bool changes_direction(const uint8_t *at)
{
    if (at[0] != 0xe2) return false;
    return at[1] == 0x80 ? (at[2] >= 0x8b && at[2] <= 0x8f) || (at[2] >= 0xa8 && at[2] <= 0xae)
                         : at[1] == 0x81 && at[2] >= 0xa6 && at[2] <= 0xa9;
}

/* Bytes of the printable character at `at`; 0: it is none. */
static size_t printable(const uint8_t *at, size_t left)
{
    if (at[0] < 0x80) return at[0] >= 0x20 && at[0] != 0x7f;
    size_t size = at[0] >= 0xf0 ? 4 : at[0] >= 0xe0 ? 3 : 2;
    if (left < size || !cursor_is_utf8(at, size)) return 0;
    bool control = at[0] == 0xc2 && at[1] < 0xa0;
    return control || changes_direction(at) ? 0 : size;
}

void log_escape(char *to, size_t size, const char *text)
{
    static const char dots[] = "...";
    size_t out = 0, length = strlen(text), room = size - sizeof dots;
    for (size_t i = 0; i < length;) {
        size_t n = printable((const uint8_t *)text + i, length - i);
        if (out + (n ? n : 4) > room) {
            memcpy(to + out, dots, sizeof dots - 1);
            out += sizeof dots - 1;
            break;
        }
        if (n)
            memcpy(to + out, text + i, n);
        else
            snprintf(to + out, 5, "\\x%02x", (uint8_t)text[i]);
        out += n ? n : 4;
        i += n ? n : 1;
    }
    to[out] = 0;
}
