/* Text of strangers as it may be shown in logs and on terminals: one line, nothing but what is printed. */
#pragma once

#include <stddef.h>

enum { LOG_LINE = 1000 }; /* bytes of a line of the log, at most */

/* Copies text with bytes that a terminal or a reader of logs could take for something else written as \xNN; cut, with
   dots, to what fits. */
void log_escape(char *to, size_t size, const char *text);
