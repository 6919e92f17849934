/* Mapping rings. */
#include "daemon/executor/ring/ring_memory.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "proto/ring.h"

static struct ring *complain(const char *what)
{
    fprintf(stderr, "fusiond-executor: %s: %s\n", what, strerror(errno));
    return NULL;
}

struct ring *ring_memory_map(int fd)
{
    struct stat s;
    int seals = fcntl(fd, F_GET_SEALS);
    if (fstat(fd, &s) != 0) return complain("the ring");
    errno = EINVAL;
    if (seals < 0 || !(seals & F_SEAL_SHRINK) || (size_t)s.st_size < ring_total_bytes()) return complain("the ring");
    struct ring *ring = mmap(NULL, ring_total_bytes(), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (ring == MAP_FAILED) return complain("mapping the ring");
    close(fd);
    errno = EINVAL;
    return ring_check(ring, (size_t)s.st_size) ? ring : complain("the ring's header");
}
