/* The daemon's log. */
#include "daemon/broker/core/log.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

enum { WINDOW_MS = 10000, LINES_OF_ONE = 10, LINES_OF_ALL = 100 }; /* lines in a window */

static enum log_place place;
static enum journal_way journal;
static struct log_limit all;

void log_open(enum log_place where)
{
    place = where;
    journal = journal_open();
    if (place == LOG_TO_SYSLOG && !journal) openlog("fusiond", LOG_PID | LOG_PERROR, LOG_DAEMON);
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

static void print(int priority, const char *text)
{
    char line[LOG_LINE];
    log_escape(line, sizeof line, text);
    if (journal)
        fprintf(stderr, "<%d>fusiond: %s\n", priority, line);
    else
        fprintf(stderr, "fusiond: %s\n", line);
}

/* One that has no room now would keep the daemon from its work: the line is missing, and counted. */
static void write_text(int priority, const struct log_subject *about, const char *text)
{
    enum journal_sent sent = journal == JOURNAL_ENTRIES ? journal_send(priority, text, about) : JOURNAL_GONE;
    if (sent == JOURNAL_FULL) {
        all.dropped++;
    } else if (sent == JOURNAL_GONE && place == LOG_TO_SYSLOG && !journal) {
        char line[LOG_LINE];
        log_escape(line, sizeof line, text);
        syslog(priority, "%s", line);
    } else if (sent == JOURNAL_GONE) {
        print(priority, text);
    }
}

static void write_dropped(int priority, uint32_t dropped)
{
    char text[64];
    snprintf(text, sizeof text, "%u more lines like the ones before were left out", dropped);
    if (dropped) write_text(priority, NULL, text);
}

__attribute__((format(printf, 4, 0))) static void
write_line(int priority, struct log_limit *limit, const struct log_subject *about, const char *format, va_list args)
{
    char text[2 * LOG_LINE];
    uint32_t dropped = 0, dropped_in_all;
    if (place == LOG_TO_STDERR_WARNINGS && priority > LOG_WARNING) return;
    if (limit && !allow(limit, LINES_OF_ONE, &dropped)) return;
    if (!allow(&all, LINES_OF_ALL, &dropped_in_all)) return;
    write_dropped(priority, dropped + dropped_in_all);
    vsnprintf(text, sizeof text, format, args);
    write_text(priority, about, text);
}

void log_info(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    write_line(LOG_INFO, NULL, NULL, format, args);
    va_end(args);
}

void log_about(int priority, struct log_limit *limit, const struct log_subject *about, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    write_line(priority, limit, about, format, args);
    va_end(args);
}

void log_warning(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    write_line(LOG_WARNING, NULL, NULL, format, args);
    va_end(args);
}
