/* Memory that client and executor share: sealed memfds. */
#include "client/memory/memory.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <unistd.h>

#include "client/base/error.h"
#include "client/session/held.h"
#include "client/session/request.h"
#include "client/session/wait.h"
#include "proto/writer.h"

enum { USM_TRIES = 16 };
static const uint64_t check_available_above = 64 << 20; /* smaller requests need no look at the machine's memory */
static const uint64_t huge_page_bytes = 2 << 20;
/* USM allocations lie at the same address in client and executor: in a part of the address space that
   neither the kernel's mmap nor the heap uses by itself. */
static const uintptr_t usm_region = 0x100000000000, usm_region_bytes = 0x100000000000;

/* Bytes the machine could still give, 0 where unknown. */
static uint64_t available_memory(void)
{
    FILE *f = fopen("/proc/meminfo", "re");
    char line[128];
    uint64_t kilobytes = 0;
    while (f && fgets(line, sizeof line, f))
        if (sscanf(line, "MemAvailable: %" SCNu64, &kilobytes) == 1) break;
    if (f) fclose(f);
    return kilobytes * 1024;
}

static int sealed_memfd(uint64_t bytes)
{
    int fd = memfd_create("fusiond-buffer", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (fd < 0) return -1;
    if (ftruncate(fd, (off_t)bytes) < 0 || fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) < 0) {
        close(fd);
        return -1;
    }
    return fd;
}

/* Where pages of the largest size that fits can be mapped: the executor asks for huge ones (huge_pages.h). */
static uint64_t page_of(uint64_t bytes)
{
    return bytes < huge_page_bytes ? 4096 : huge_page_bytes;
}

static void *usm_address(uint64_t bytes)
{
    uint64_t random = 0, page = page_of(bytes);
    if (getrandom(&random, sizeof random, 0) < 0) random = (uintptr_t)&random;
    uint64_t room = usm_region_bytes > bytes ? usm_region_bytes - bytes : 1;
    return (void *)(usm_region + random % room / page * page);
}

static void *map_usm(uint64_t bytes, int fd)
{
    return mmap(usm_address(bytes), bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED_NOREPLACE, fd, 0);
}

/* A little more than is needed, of which the ends are given back. */
static void *map_anywhere(uint64_t bytes, int fd)
{
    uint64_t page = page_of(bytes), length = (bytes + 4095) / 4096 * 4096, more = page - 4096;
    uint8_t *room = mmap(NULL, length + more, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (room == MAP_FAILED) return MAP_FAILED;
    uint64_t before = -(uintptr_t)room % page;
    void *map = mmap(room + before, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, fd, 0);
    if (map == MAP_FAILED) before = length + more; /* all of it */
    if (before) munmap(room, before);
    if (before < more) munmap(room + before + length, more - before);
    return map;
}

/* Where the data begin; NULL: not mapped, and errno. */
static void *map_memory(const struct memory *m, int fd)
{
    uint64_t bytes = m->lead + m->bytes;
    void *map = m->usm ? map_usm(bytes, fd) : map_anywhere(bytes, fd);
    return map == MAP_FAILED ? NULL : (uint8_t *)map + m->lead;
}

struct attachment {
    const struct memory *memory;
    void *map;
};

static void pack_attach(struct proto_writer *w, const void *data)
{
    const struct attachment *a = data;
    proto_pack_map(w, 4);
    proto_pack_uint(w, "buffer", a->memory->id);
    proto_pack_uint(w, "bytes", a->memory->bytes);
    proto_pack_uint(w, "address", a->memory->usm ? (uintptr_t)a->map - a->memory->lead : 0);
    proto_pack_uint(w, "offset", a->memory->lead);
}

static fusion_status attached(struct memory *m, void *map, fusion_status status)
{
    if (status == FUSION_SUCCESS)
        m->map = map;
    else
        client_memory_unmap(m, map);
    return status;
}

/* Where the reply does not come in time it is waited for the next time that the memory is needed. */
static fusion_status attach(struct memory *m, void *map, int fd)
{
    struct attachment a = {m, map};
    fusion_status status =
        client_request_late(m->session, "buffer.attach", pack_attach, &a, &fd, 1, NULL, &m->late_attach);
    if (!m->late_attach) return attached(m, map, status);
    m->late_map = map;
    return status;
}

static fusion_status attach_late(struct memory *m)
{
    bool pending;
    fusion_status status = client_request_resume(m->session, "buffer.attach", m->late_attach, &pending);
    if (pending) return status;
    void *map = m->late_map;
    m->late_attach = 0;
    m->late_map = NULL;
    return attached(m, map, status);
}

/* Maps and attaches; a USM address the executor has in use is tried elsewhere. */
static fusion_status map_and_attach(struct memory *m, int fd)
{
    fusion_status status = FUSION_SUCCESS;
    for (int i = 0; i < (m->usm ? USM_TRIES : 1); i++) {
        void *map = map_memory(m, fd);
        if (!map && m->usm && errno == EEXIST) continue;
        if (!map)
            return client_error(FUSION_OUT_OF_MEMORY, client_memory_name(m),
                                "%" PRIu64 " bytes could not be mapped: %s", m->bytes, strerror(errno));
        status = attach(m, map, fd);
        if (status != FUSION_BUSY) return status;
    }
    return status;
}

static fusion_status take_memory(struct memory *m)
{
    if (m->map) return FUSION_SUCCESS;
    if (m->late_attach) return attach_late(m);
    uint64_t available = m->bytes > check_available_above ? available_memory() : 0;
    if (available && m->bytes > available)
        return client_error(FUSION_OUT_OF_MEMORY, client_memory_name(m),
                            "%" PRIu64 " bytes asked, %" PRIu64 " available on this machine", m->bytes, available);
    int fd = sealed_memfd(m->lead + m->bytes);
    if (fd < 0)
        return client_error(FUSION_OUT_OF_MEMORY, client_memory_name(m), "no memory file of %" PRIu64 " bytes: %s",
                            m->bytes, strerror(errno));
    fusion_status status = map_and_attach(m, fd);
    close(fd);
    return status;
}

/* Several threads may need it first at the same time. */
fusion_status client_memory_ensure(struct memory *m)
{
    pthread_mutex_lock(&m->session->attach_lock);
    fusion_status status = take_memory(m);
    pthread_mutex_unlock(&m->session->attach_lock);
    return status;
}

void client_memory_drop(struct memory *m)
{
    client_flush(m->session);
    client_open_wait(m->session, &m->uses);
    void *map = m->map ? m->map : m->late_map;
    if (map) {
        client_release(m->session, "buffer.release", "buffer", m->id);
        client_memory_unmap(m, map);
    }
    client_memory_unregister(m);
}
