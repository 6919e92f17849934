/* The daemon's log: syslog, or standard error. */
#pragma once

#include <stdbool.h>

void log_open(bool to_stderr);
__attribute__((format(printf, 1, 2))) void log_info(const char *format, ...);
__attribute__((format(printf, 1, 2))) void log_warning(const char *format, ...);
