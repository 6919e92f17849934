/* What /proc tells of a process. */
#include "daemon/broker/core/procstat.h"

#include <stdbool.h>
#include <stdio.h>
#include <unistd.h>

static bool read_pages(pid_t pid, unsigned long long *resident, unsigned long long *shared)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/%ld/statm", (long)pid);
    FILE *file = fopen(path, "re");
    if (!file) return false;
    bool read = fscanf(file, "%*u %llu %llu", resident, shared) == 2;
    fclose(file);
    return read;
}

uint64_t procstat_resident(pid_t pid)
{
    unsigned long long resident, shared;
    return read_pages(pid, &resident, &shared) ? resident * (uint64_t)sysconf(_SC_PAGESIZE) : 0;
}

uint64_t procstat_private(pid_t pid)
{
    unsigned long long resident, shared;
    if (!read_pages(pid, &resident, &shared) || shared > resident) return 0;
    return (resident - shared) * (uint64_t)sysconf(_SC_PAGESIZE);
}
