/* What /proc tells of a process. */
#include "daemon/broker/procstat.h"

#include <stdio.h>
#include <unistd.h>

uint64_t procstat_resident(pid_t pid)
{
    char path[64];
    unsigned long long pages = 0;
    snprintf(path, sizeof path, "/proc/%ld/statm", (long)pid);
    FILE *file = fopen(path, "re");
    if (!file) return 0;
    if (fscanf(file, "%*u %llu", &pages) != 1) pages = 0;
    fclose(file);
    return pages * (uint64_t)sysconf(_SC_PAGESIZE);
}
