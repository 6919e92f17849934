/* What /proc tells of a process. */
#pragma once

#include <stdint.h>
#include <sys/types.h>

uint64_t procstat_resident(pid_t pid); /* bytes; 0 where unknown */
/* Of these the bytes that no other process and no file has. */
uint64_t procstat_private(pid_t pid);
