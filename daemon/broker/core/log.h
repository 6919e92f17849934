/* The daemon's log: lines of printable text, none longer than LOG_LINE bytes, and not too many at a time. */
#pragma once

#include <stddef.h>
#include <stdint.h>

enum log_place {
    LOG_STDERR,          /* everything */
    LOG_STDERR_WARNINGS, /* a private daemon speaks on its client's terminal only when something is wrong */
    LOG_SYSLOG           /* and standard error, for whoever has just started it */
};

enum { LOG_LINE = 1000 };

/* How many lines somebody has caused lately; all zero at first. */
struct log_limit {
    uint64_t since_ms;
    uint32_t lines, dropped;
};

void log_open(enum log_place where);
__attribute__((format(printf, 1, 2))) void log_info(const char *format, ...);
__attribute__((format(printf, 1, 2))) void log_warning(const char *format, ...);
/* The same as log_info for what a client causes: of more than a few lines in ten seconds only the number is told. */
__attribute__((format(printf, 2, 3))) void log_limited(struct log_limit *limit, const char *format, ...);
/* Copies text with bytes that a terminal or a reader of logs could take for something else written as \xNN; cut, with
   dots, to what fits. */
void log_escape(char *to, size_t size, const char *text);
