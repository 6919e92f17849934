/* Compiled code on its way to executors. */
#include "daemon/broker/requests/object.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>

#ifndef MFD_EXEC
#define MFD_EXEC 0x0010U /* where vm.memfd_noexec is set; older kernels know neither */
#endif

static bool write_all(int fd, const uint8_t *at, size_t size)
{
    while (size > 0) {
        ssize_t put = write(fd, at, size);
        if (put < 0 && errno != EINTR) return false;
        if (put > 0) {
            at += put;
            size -= (size_t)put;
        }
    }
    return true;
}

int object_seal(const void *bytes, size_t size)
{
    int fd = memfd_create("fusiond-object", MFD_CLOEXEC | MFD_ALLOW_SEALING | MFD_EXEC);
    if (fd < 0 && errno == EINVAL) fd = memfd_create("fusiond-object", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (fd < 0) return -1;
    if (write_all(fd, bytes, size) &&
        fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE | F_SEAL_SEAL) == 0)
        return fd;
    int code = errno;
    close(fd);
    errno = code;
    return -1;
}
