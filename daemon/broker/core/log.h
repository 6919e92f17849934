/*
 * The daemon's log: lines of printable text, none longer than LOG_LINE bytes, and not too many at a time. Priorities
 * are those of syslog(3).
 */
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <syslog.h>

#include "daemon/broker/core/journal.h"
#include "daemon/broker/core/log_text.h"

enum log_place {
    LOG_TO_STDERR,          /* everything */
    LOG_TO_STDERR_WARNINGS, /* a private daemon speaks on its client's terminal only when something is wrong */
    LOG_TO_SYSLOG           /* and standard error, for whoever has just started it */
};

/* How many lines somebody has caused lately; all zero at first. */
struct log_limit {
    uint64_t since_ms;
    uint32_t lines, dropped;
};

/* Where standard error is systemd's journal, lines go there as entries with fields, wherever they were to go. */
void log_open(enum log_place where);
__attribute__((format(printf, 1, 2))) void log_info(const char *format, ...);
__attribute__((format(printf, 1, 2))) void log_warning(const char *format, ...);
/* A line about somebody. limit: what that one has caused, of which more than a few lines in ten seconds are told as a
   number only; NULL: it is no client's doing. */
__attribute__((format(printf, 4, 5))) void log_about(int priority, struct log_limit *limit,
                                                     const struct log_subject *about, const char *format, ...);
