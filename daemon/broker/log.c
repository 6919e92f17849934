/* The daemon's log. */
#include "daemon/broker/log.h"

#include <stdarg.h>
#include <stdio.h>
#include <syslog.h>

static enum log_place place;

void log_open(enum log_place where)
{
    place = where;
    if (place == LOG_SYSLOG) openlog("fusiond", LOG_PID | LOG_PERROR, LOG_DAEMON);
}

__attribute__((format(printf, 2, 0))) static void write_line(int priority, const char *format, va_list args)
{
    char line[1024];
    if (place == LOG_SYSLOG) {
        vsyslog(priority, format, args);
        return;
    }
    vsnprintf(line, sizeof line, format, args);
    fprintf(stderr, "fusiond: %s\n", line);
}

void log_info(const char *format, ...)
{
    va_list args;
    if (place == LOG_STDERR_WARNINGS) return;
    va_start(args, format);
    write_line(LOG_INFO, format, args);
    va_end(args);
}

void log_warning(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    write_line(LOG_WARNING, format, args);
    va_end(args);
}
