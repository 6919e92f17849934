/* The daemon's log. */
#include "daemon/broker/core/log.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <syslog.h>
#include <time.h>

#include "ir/base/cursor.h"

enum { WINDOW_MS = 10000, LINES_OF_ONE = 10, LINES_OF_ALL = 100 }; /* lines in a window */

static enum log_place place;
static struct log_limit all;

void log_open(enum log_place where)
{
    place = where;
    if (place == LOG_SYSLOG) openlog("fusiond", LOG_PID | LOG_PERROR, LOG_DAEMON);
}

/* ---- text ---- */

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

/* ---- how much ---- */

static uint64_t now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

/* May one more line be written? dropped: how many were left out before it, where a new window begins. */
static bool allow(struct log_limit *limit, uint32_t most, uint32_t *dropped)
{
    uint64_t now = now_ms();
    *dropped = 0;
    if (limit->lines == 0 || now - limit->since_ms > WINDOW_MS) {
        *dropped = limit->dropped;
        *limit = (struct log_limit){.since_ms = now};
    }
    if (limit->lines >= most) {
        limit->dropped++;
        return false;
    }
    limit->lines++;
    return true;
}

/* ---- writing ---- */

static void write_text(int priority, const char *text)
{
    char line[LOG_LINE];
    log_escape(line, sizeof line, text);
    if (place == LOG_SYSLOG)
        syslog(priority, "%s", line);
    else
        fprintf(stderr, "fusiond: %s\n", line);
}

static void write_dropped(int priority, uint32_t dropped)
{
    char text[64];
    snprintf(text, sizeof text, "%u more lines like the ones before were left out", dropped);
    if (dropped) write_text(priority, text);
}

__attribute__((format(printf, 3, 0))) static void write_line(int priority, struct log_limit *limit, const char *format,
                                                             va_list args)
{
    char text[2 * LOG_LINE];
    uint32_t dropped = 0, dropped_in_all;
    if (limit && !allow(limit, LINES_OF_ONE, &dropped)) return;
    if (!allow(&all, LINES_OF_ALL, &dropped_in_all)) return;
    write_dropped(priority, dropped + dropped_in_all);
    vsnprintf(text, sizeof text, format, args);
    write_text(priority, text);
}

void log_info(const char *format, ...)
{
    va_list args;
    if (place == LOG_STDERR_WARNINGS) return;
    va_start(args, format);
    write_line(LOG_INFO, NULL, format, args);
    va_end(args);
}

void log_limited(struct log_limit *limit, const char *format, ...)
{
    va_list args;
    if (place == LOG_STDERR_WARNINGS) return;
    va_start(args, format);
    write_line(LOG_INFO, limit, format, args);
    va_end(args);
}

void log_warning(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    write_line(LOG_WARNING, NULL, format, args);
    va_end(args);
}
