/* Mapping client memory. Its size is sealed, so that touching it cannot fail; what it holds is not trusted. */
#include "daemon/executor/program/buffers.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "daemon/executor/program/guard.h"
#include "daemon/executor/program/huge_pages.h"
#include "proto/include/fusiond/status.h"
#include "proto/lead.h"
#include "proto/limits.h"
#include "proto/ring.h"

static size_t page_bytes(void)
{
    return (size_t)sysconf(_SC_PAGESIZE);
}

static size_t align_up(size_t n, size_t alignment)
{
    return (n + alignment - 1) & ~(alignment - 1);
}

void buffers_init(struct buffers *b)
{
    *b = (struct buffers){.by_id = {0}};
    pthread_mutex_init(&b->lock, NULL);
}

void buffers_set_ring(struct buffers *b, struct ring *ring)
{
    b->ring = ring;
}

static int check_descriptor(int fd, struct buffer *buffer, struct error *e)
{
    const int needed = F_SEAL_SHRINK | F_SEAL_GROW;
    int seals = fcntl(fd, F_GET_SEALS);
    struct stat s;
    if (seals < 0) return error_set_id(e, FUSION_INVALID, "buffer", buffer->id, "the descriptor is not a memfd");
    if ((seals & needed) != needed)
        return error_set_id(e, FUSION_INVALID, "buffer", buffer->id,
                            "the memfd is not sealed against shrinking and growing (seals %#x)", (unsigned)seals);
    if (fstat(fd, &s) != 0) return error_set_id(e, FUSION_INVALID, "buffer", buffer->id, "fstat: %s", strerror(errno));
    if (s.st_size < 0 || (uint64_t)s.st_size < buffer->bytes || (uint64_t)s.st_size - buffer->bytes < buffer->lead)
        return error_set_id(e, FUSION_INVALID, "buffer", buffer->id,
                            "the memfd has %jd bytes, fewer than the %" PRIu64 " announced, from byte %" PRIu64 " on",
                            (intmax_t)s.st_size, buffer->bytes, buffer->lead);
    buffer->empty = s.st_blocks == 0;
    buffer->device = s.st_dev;
    buffer->inode = s.st_ino;
    return 0;
}

/* Whole pages, of which the data are the last ones. */
static size_t length_of(const struct buffer *buffer)
{
    return align_up(buffer->lead + buffer->bytes, page_bytes());
}

/* Inside a reservation, so that running over either end meets nothing. */
static int map_guarded(struct buffer *buffer, int fd, struct error *e)
{
    size_t length = length_of(buffer);
    size_t reserved = length + 2 * GUARD_BYTES + HUGE_PAGE_BYTES;
    void *reservation = mmap(NULL, reserved, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (reservation == MAP_FAILED)
        return error_set_id(e, FUSION_OUT_OF_MEMORY, "buffer", buffer->id, "no address space for %zu bytes: %s", length,
                            strerror(errno));
    buffer->reservation = reservation;
    buffer->reserved = reserved;
    void *at = (void *)align_up((uintptr_t)reservation + GUARD_BYTES, HUGE_PAGE_BYTES);
    int flags = fd < 0 ? MAP_PRIVATE | MAP_ANONYMOUS : MAP_SHARED;
    if (mmap(at, length, PROT_READ | PROT_WRITE, flags | MAP_FIXED, fd, 0) == MAP_FAILED)
        return error_set_id(e, FUSION_OUT_OF_MEMORY, "buffer", buffer->id, "mapping %zu bytes: %s", length,
                            strerror(errno));
    buffer->memory = (uint8_t *)at + buffer->lead;
    return 0;
}

/* Where the client has it: addresses inside its data stay good. What lies beside it is the client's layout. */
static int map_at(struct buffer *buffer, uint64_t address, int fd, struct error *e)
{
    size_t length = length_of(buffer);
    if (address % page_bytes())
        return error_set_id(e, FUSION_INVALID, "buffer", buffer->id, "address %#" PRIx64 " is not at a page's start",
                            address);
    void *at = (void *)(uintptr_t)address;
    void *memory = mmap(at, length, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED_NOREPLACE, fd, 0);
    if (memory != at) {
        int reason = errno;
        if (memory != MAP_FAILED) munmap(memory, length); /* a kernel that does not know the flag */
        if (memory != MAP_FAILED || reason == EEXIST)
            return error_set_id(e, FUSION_BUSY, "buffer", buffer->id,
                                "address taken: %zu bytes at %#" PRIx64 " are in use in the executor", length, address);
        return error_set_id(e, FUSION_INVALID, "buffer", buffer->id, "mapping %zu bytes at %#" PRIx64 ": %s", length,
                            address, strerror(reason));
    }
    buffer->reservation = memory;
    buffer->memory = (uint8_t *)memory + buffer->lead;
    buffer->reserved = length;
    return 0;
}

/* Takes the page faults now, where running out of memory is an error and no signal. */
static int populate(const struct buffer *buffer, struct error *e)
{
    size_t length = length_of(buffer);
    uint8_t *pages = buffer->memory - buffer->lead;
    madvise(pages, length, MADV_HUGEPAGE);
    if (buffer->empty) huge_pages_take(pages, length);
    if (madvise(pages, length, MADV_POPULATE_WRITE) == 0) return 0;
    if (errno == EINVAL) return 0; /* a kernel before 5.14: the kernels will fault the pages in */
    return error_set_id(e, FUSION_OUT_OF_MEMORY, "buffer", buffer->id, "no memory for %zu bytes: %s", length,
                        strerror(errno));
}

static void forget_away(const struct buffer *buffer)
{
    if (buffer->ring) ring_forget_away(buffer->ring, buffer->id);
}

static void destroy(struct buffer *buffer)
{
    if (buffer->of_device.data) buffer->of_device.free(buffer->of_device.data);
    if (buffer->of_device.newer || buffer->lost) forget_away(buffer);
    if (buffer->reservation) munmap(buffer->reservation, buffer->reserved);
    free(buffer);
}

static int map_buffer(struct buffer *buffer, uint64_t address, int fd, struct error *e)
{
    if (check_descriptor(fd, buffer, e) != 0) return -1;
    if ((address ? map_at(buffer, address, fd, e) : map_guarded(buffer, fd, e)) != 0) return -1;
    return populate(buffer, e);
}

struct buffer *buffers_private(uint64_t bytes, struct error *e)
{
    struct buffer *buffer = calloc(1, sizeof *buffer);
    if (!buffer) {
        error_set(e, FUSION_OUT_OF_MEMORY, "buffer", "no memory in the executor");
        return NULL;
    }
    buffer->bytes = bytes;
    buffer->lead = proto_lead(bytes, PROTO_LEAD_ALIGNMENT);
    atomic_init(&buffer->references, 1);
    if (map_guarded(buffer, -1, e) == 0 && populate(buffer, e) == 0) {
        buffer->inode = (ino_t)(uintptr_t)buffer->memory; /* no other buffer's memory */
        return buffer;
    }
    destroy(buffer);
    return NULL;
}

/* Shared memory is there in as many places as are asked for: an old size of 0 leaves it where it was, too. */
static int map_again(const struct buffer *buffer, uint64_t ring, void *memory)
{
    uint8_t *pages = buffer->memory - buffer->lead;
    for (size_t at = 0, length = length_of(buffer); at < length; at += ring) {
        size_t part = length - at < ring ? length - at : ring;
        if (mremap(memory, 0, part, MREMAP_MAYMOVE | MREMAP_FIXED, pages + at) == MAP_FAILED) return -1;
    }
    return 0;
}

struct buffer *buffers_ring(uint64_t bytes, uint64_t ring, struct error *e)
{
    struct buffer *buffer = calloc(1, sizeof *buffer);
    void *memory = mmap(NULL, ring, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (!buffer) abort();
    buffer->bytes = bytes;
    buffer->lead = proto_lead(bytes, PROTO_LEAD_ALIGNMENT);
    atomic_init(&buffer->references, 1);
    bool made = memory != MAP_FAILED && map_guarded(buffer, -1, e) == 0 && map_again(buffer, ring, memory) == 0 &&
                populate(buffer, e) == 0;
    int reason = errno;
    if (memory != MAP_FAILED) munmap(memory, ring);
    buffer->inode = (ino_t)(uintptr_t)buffer->memory; /* no other buffer's memory */
    if (made) return buffer;
    error_set(e, FUSION_OUT_OF_MEMORY, "buffer", "no memory for %" PRIu64 " bytes over and over: %s", ring,
              strerror(reason));
    destroy(buffer);
    return NULL;
}

static int insert(struct buffers *b, struct buffer *buffer, struct error *e)
{
    int result = 0;
    pthread_mutex_lock(&b->lock);
    if (map_find(&b->by_id, buffer->id))
        result = error_set_id(e, FUSION_INVALID, "buffer", buffer->id, "a buffer with this number is attached already");
    else if (b->by_id.count == PROTO_MAX_BUFFERS)
        result = error_set_id(e, FUSION_OUT_OF_MEMORY, "buffer", buffer->id, "%d buffers are attached, the limit",
                              PROTO_MAX_BUFFERS);
    else if (!map_put(&b->by_id, buffer->id, buffer))
        result = error_set_id(e, FUSION_OUT_OF_MEMORY, "buffer", buffer->id, "no memory in the executor");
    pthread_mutex_unlock(&b->lock);
    return result;
}

static int check_place(uint64_t id, const struct buffer_place *place, struct error *e)
{
    if (!id || !place->bytes || place->bytes > (uint64_t)1 << 46)
        return error_set_id(e, FUSION_INVALID, "buffer", id, "number 0 or a size of %" PRIu64 " bytes is not possible",
                            place->bytes);
    if (place->offset >= page_bytes())
        return error_set_id(e, FUSION_INVALID, "buffer", id,
                            "its data begin at byte %" PRIu64 " of its memory, not in the first page", place->offset);
    return 0;
}

int buffers_attach(struct buffers *b, uint64_t id, const struct buffer_place *place, struct error *e)
{
    if (check_place(id, place, e) != 0) return -1;
    struct buffer *buffer = calloc(1, sizeof *buffer);
    if (!buffer) return error_set_id(e, FUSION_OUT_OF_MEMORY, "buffer", id, "no memory in the executor");
    buffer->id = id;
    buffer->bytes = place->bytes;
    buffer->lead = place->offset;
    buffer->ring = b->ring;
    buffer->lost = b->ring && ring_is_away(b->ring, id);
    atomic_init(&buffer->references, 1);
    if (map_buffer(buffer, place->address, place->fd, e) == 0 && insert(b, buffer, e) == 0) return 0;
    destroy(buffer);
    return -1;
}

int buffers_detach(struct buffers *b, uint64_t id, struct error *e)
{
    pthread_mutex_lock(&b->lock);
    struct buffer *buffer = map_remove(&b->by_id, id);
    pthread_mutex_unlock(&b->lock);
    if (!buffer) return error_set_id(e, FUSION_NOT_FOUND, "buffer", id, "no such buffer is attached");
    buffers_put(buffer);
    return 0;
}

struct buffer *buffers_get(struct buffers *b, uint64_t id)
{
    pthread_mutex_lock(&b->lock);
    struct buffer *buffer = map_get(&b->by_id, id);
    if (buffer) atomic_fetch_add(&buffer->references, 1);
    pthread_mutex_unlock(&b->lock);
    return buffer;
}

struct buffer *buffers_find(struct buffers *b, uint64_t address)
{
    struct buffer *found = NULL;
    uint32_t position = 0;
    pthread_mutex_lock(&b->lock);
    for (const struct map_entry *entry; !found && (entry = map_next(&b->by_id, &position));) {
        struct buffer *buffer = entry->pointer;
        if (address >= (uintptr_t)buffer->memory && address - (uintptr_t)buffer->memory < buffer->bytes) found = buffer;
    }
    if (found) atomic_fetch_add(&found->references, 1);
    pthread_mutex_unlock(&b->lock);
    return found;
}

void buffers_put(struct buffer *buffer)
{
    if (buffer && atomic_fetch_sub(&buffer->references, 1) == 1) destroy(buffer);
}

/* ---- contents that are with a device ---- */

void buffer_leave_on_device(struct buffer *buffer)
{
    if (!buffer->of_device.newer && buffer->ring) ring_note_away(buffer->ring, buffer->id);
    buffer->of_device.newer = true;
}

int buffer_bring_back(struct buffer *buffer, bool writes, struct error *e)
{
    if (!buffer) return 0;
    struct device_memory *d = &buffer->of_device;
    if (d->newer) {
        if (d->fetch(d->data, e) != 0) return -1;
        if (buffer->ring) ring_count_moved(buffer->ring, 0, buffer->bytes);
        forget_away(buffer);
        d->newer = false;
    }
    d->valid &= !writes;
    return 0;
}

bool buffer_was_lost(struct buffer *buffer)
{
    bool lost = buffer->lost;
    if (lost) forget_away(buffer);
    buffer->lost = false;
    return lost;
}
