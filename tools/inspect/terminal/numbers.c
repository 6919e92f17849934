#include "tools/inspect/terminal/numbers.h"

#include <inttypes.h>
#include <stdio.h>

const char *size_text(uint64_t bytes, char out[NUMBER_TEXT])
{
    static const char *const units[] = {"B", "kB", "MB", "GB", "TB"};
    double value = (double)bytes;
    int unit = 0;
    for (; value >= 1000 && unit < 4; unit++) value /= 1000;
    snprintf(out, NUMBER_TEXT, unit ? "%.1f %s" : "%.0f %s", value, units[unit]);
    return out;
}

const char *time_text(uint64_t ns, char out[NUMBER_TEXT])
{
    static const char *const units[] = {"ns", "us", "ms", "s"};
    double value = (double)ns;
    int unit = 0;
    for (; value >= 1000 && unit < 3; unit++) value /= 1000;
    snprintf(out, NUMBER_TEXT,
             value < 10 && unit    ? "%.2f %s"
             : value < 100 && unit ? "%.1f %s"
                                   : "%.0f %s",
             value, units[unit]);
    return out;
}

const char *duration_text(uint64_t ms, char out[NUMBER_TEXT])
{
    uint64_t s = ms / 1000, minutes = s / 60, hours = minutes / 60, days = hours / 24;
    if (days)
        snprintf(out, NUMBER_TEXT, "%" PRIu64 " d %" PRIu64 " h", days, hours % 24);
    else if (hours)
        snprintf(out, NUMBER_TEXT, "%" PRIu64 " h %" PRIu64 " min", hours, minutes % 60);
    else if (minutes)
        snprintf(out, NUMBER_TEXT, "%" PRIu64 " min %" PRIu64 " s", minutes, s % 60);
    else
        snprintf(out, NUMBER_TEXT, "%" PRIu64 ".%" PRIu64 " s", s, ms % 1000 / 100);
    return out;
}
