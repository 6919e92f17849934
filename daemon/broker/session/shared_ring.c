/* Making submission rings. */
#include "daemon/broker/session/shared_ring.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

struct ring *shared_ring_new(int *fd)
{
    *fd = memfd_create("fusiond-ring", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (*fd < 0) return NULL;
    if (ftruncate(*fd, (off_t)ring_total_bytes()) == 0 &&
        fcntl(*fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) == 0) {
        void *memory = mmap(NULL, ring_total_bytes(), PROT_READ | PROT_WRITE, MAP_SHARED, *fd, 0);
        if (memory != MAP_FAILED) {
            ring_init(memory);
            return memory;
        }
    }
    close(*fd);
    *fd = -1;
    return NULL;
}
