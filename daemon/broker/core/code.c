/* Code on its way to executors. */
#include "daemon/broker/core/code.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
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

/* The descriptor, or -1 with errno. */
static int seal(const void *bytes, size_t size)
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

static struct code *make(const struct hash *key, const void *bytes, size_t size, uint64_t lanes, const char *effort)
{
    struct code *code = calloc(1, sizeof *code);
    if (!code) return NULL;
    *code =
        (struct code){.key = *key, .references = 1, .fd = seal(bytes, size), .lanes = lanes, .effort = strdup(effort)};
    if (code->fd >= 0 && code->effort) return code;
    int number = code->fd < 0 ? errno : ENOMEM;
    code_put(code);
    errno = number;
    return NULL;
}

struct code *code_get(struct codes *all, const struct hash *key, const void *bytes, size_t size, uint64_t lanes,
                      const char *effort)
{
    struct code *code = map_get(&all->by_key, hash_prefix(key));
    if (code && hash_equal(&code->key, key)) return code_ref(code);
    bool taken = code; /* by another one, which is as good as never: it is not shared then */
    code = make(key, bytes, size, lanes, effort);
    if (code && !taken && map_put(&all->by_key, hash_prefix(key), code)) code->all = all;
    return code;
}

struct code *code_ref(struct code *code)
{
    code->references++;
    return code;
}

void code_put(struct code *code)
{
    if (!code || --code->references > 0) return;
    if (code->all) map_remove(&code->all->by_key, hash_prefix(&code->key));
    if (code->fd >= 0) close(code->fd);
    free(code->effort);
    free(code);
}
