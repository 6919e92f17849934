/* The daemon's log: syslog, or standard error. */
#include "daemon/broker/log.h"

#include <stdarg.h>
#include <stdio.h>
#include <syslog.h>

static bool on_stderr;

void log_open(bool to_stderr)
{
    on_stderr = to_stderr;
    if (!to_stderr) openlog("fusiond", LOG_PID, LOG_DAEMON);
}

__attribute__((format(printf, 2, 0))) static void write_line(int priority, const char *format, va_list args)
{
    if (!on_stderr) {
        vsyslog(priority, format, args);
        return;
    }
    char line[1024];
    vsnprintf(line, sizeof line, format, args);
    fprintf(stderr, "fusiond: %s\n", line);
}

void log_info(const char *format, ...)
{
    va_list args;
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
