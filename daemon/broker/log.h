/* The daemon's log. */
#pragma once

enum log_place {
    LOG_STDERR,          /* everything */
    LOG_STDERR_WARNINGS, /* a private daemon speaks on its client's terminal only when something is wrong */
    LOG_SYSLOG           /* and standard error, for whoever has just started it */
};

void log_open(enum log_place place);
__attribute__((format(printf, 1, 2))) void log_info(const char *format, ...);
__attribute__((format(printf, 1, 2))) void log_warning(const char *format, ...);
