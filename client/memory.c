/* Buffers and USM allocations: sealed memfds shared with the session's executor. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <unistd.h>

#include "client/internal.h"

enum { ID_SLOT_BITS = 20, USM_TRIES = 16 };
static const uint64_t check_available_above = 64 << 20; /* smaller requests need no look at the machine's memory */
/* USM allocations lie at the same address in client and executor: in a part of the address space that
   neither the kernel's mmap nor the heap uses by itself. */
static const uintptr_t usm_region = 0x100000000000, usm_region_bytes = 0x100000000000;

uint32_t client_type_bytes(fusion_type type)
{
    static const uint8_t bytes[] = {
        [FUSION_BYTES] = 1, [FUSION_I8] = 1,  [FUSION_I16] = 2, [FUSION_I32] = 4, [FUSION_I64] = 8, [FUSION_U8] = 1,
        [FUSION_U16] = 2,   [FUSION_U32] = 4, [FUSION_U64] = 8, [FUSION_F16] = 2, [FUSION_F32] = 4, [FUSION_F64] = 8};
    return (unsigned)type < sizeof bytes ? bytes[type] : 0;
}

struct proto_props client_props(unsigned properties)
{
    struct proto_props p = {.internal_memory = properties & FUSION_INTERNAL_MEMORY,
                            .no_init = properties & FUSION_NO_INIT};
    if (properties & FUSION_ACCESS_SCOPE_WORK_GROUP) p.access_scope = PROTO_SCOPE_WORK_GROUP;
    if (properties & FUSION_ACCESS_SCOPE_WORK_ITEM) p.access_scope = PROTO_SCOPE_WORK_ITEM;
    return p;
}

fusion_status client_check_properties(unsigned properties, const char *object)
{
    unsigned both = FUSION_ACCESS_SCOPE_WORK_GROUP | FUSION_ACCESS_SCOPE_WORK_ITEM;
    if (properties & ~(both | FUSION_INTERNAL_MEMORY | FUSION_NO_INIT))
        return client_error(FUSION_INVALID, object, "unknown property bits 0x%x", properties);
    if ((properties & both) == both)
        return client_error(FUSION_INVALID, object, "access_scope work_group and work_item exclude each other");
    return FUSION_SUCCESS;
}

/* ---- the table of memories ---- */

struct memory *client_memory_find(fusion_session *s, uint64_t id)
{
    uint64_t slot = (id & ((1u << ID_SLOT_BITS) - 1)) - 1;
    if (id == 0 || slot >= s->n_memories) return NULL;
    struct memory *m = s->memories[slot];
    return m && m->id == id ? m : NULL;
}

/* A new place at the end of the table, and room to note it as free later. */
static fusion_status new_place(fusion_session *s, uint32_t *slot)
{
    uint32_t capacity = s->memories_capacity;
    if (s->n_memories >= (1u << ID_SLOT_BITS) - 1)
        return client_error(FUSION_OUT_OF_MEMORY, "session", "too many buffers");
    if (!client_reserve(&s->free_places, s->n_memories, &capacity, sizeof *s->free_places) ||
        !client_reserve(&s->memories, s->n_memories, &s->memories_capacity, sizeof *s->memories))
        return client_error(FUSION_OUT_OF_MEMORY, "session", "no memory");
    *slot = s->n_memories++;
    return FUSION_SUCCESS;
}

static fusion_status register_memory(fusion_session *s, struct memory *m)
{
    uint32_t slot = 0;
    fusion_status status = FUSION_SUCCESS;
    if (s->n_free_places)
        slot = s->free_places[--s->n_free_places];
    else
        status = new_place(s, &slot);
    if (status != FUSION_SUCCESS) return status;
    s->memories[slot] = m;
    m->id = (slot + 1) | ++s->memory_serial << ID_SLOT_BITS;
    return FUSION_SUCCESS;
}

static void unregister_memory(fusion_session *s, struct memory *m)
{
    uint32_t slot = (uint32_t)(m->id & ((1u << ID_SLOT_BITS) - 1)) - 1;
    s->memories[slot] = NULL;
    s->free_places[s->n_free_places++] = slot;
}

/* ---- taking memory ---- */

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

static void *usm_address(uint64_t bytes)
{
    uint64_t random = 0;
    if (getrandom(&random, sizeof random, 0) < 0) random = (uintptr_t)&random;
    uint64_t room = usm_region_bytes > bytes ? usm_region_bytes - bytes : 1;
    return (void *)(usm_region + random % room / 4096 * 4096);
}

static void *map_memory(const struct memory *m, int fd)
{
    if (!m->usm) return mmap(NULL, m->bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    return mmap(usm_address(m->bytes), m->bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED_NOREPLACE, fd, 0);
}

struct attachment {
    const struct memory *memory;
    void *map;
};

static void pack_attach(struct proto_writer *w, const void *data)
{
    const struct attachment *a = data;
    proto_pack_map(w, 3);
    proto_pack_uint(w, "buffer", a->memory->id);
    proto_pack_uint(w, "bytes", a->memory->bytes);
    proto_pack_uint(w, "address", a->memory->usm ? (uintptr_t)a->map : 0);
}

static const char *memory_name(const struct memory *m)
{
    return m->buffer ? m->buffer->name : "usm allocation";
}

static fusion_status attached(struct memory *m, void *map, fusion_status status)
{
    if (status == FUSION_SUCCESS)
        m->map = map;
    else
        munmap(map, m->bytes);
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
        if (map == MAP_FAILED && m->usm && errno == EEXIST) continue;
        if (map == MAP_FAILED)
            return client_error(FUSION_OUT_OF_MEMORY, memory_name(m), "%" PRIu64 " bytes could not be mapped: %s",
                                m->bytes, strerror(errno));
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
        return client_error(FUSION_OUT_OF_MEMORY, memory_name(m),
                            "%" PRIu64 " bytes asked, %" PRIu64 " available on this machine", m->bytes, available);
    int fd = sealed_memfd(m->bytes);
    if (fd < 0)
        return client_error(FUSION_OUT_OF_MEMORY, memory_name(m), "no memory file of %" PRIu64 " bytes: %s", m->bytes,
                            strerror(errno));
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

/* Waits for the last user, then gives the memory back on both sides. */
static void drop_memory(struct memory *m)
{
    fusion_session *s = m->session;
    if (m->last_event) client_wait(s, m->last_event, -1, NULL);
    void *map = m->map ? m->map : m->late_map;
    if (map) {
        client_release(s, "buffer.release", "buffer", m->id);
        munmap(map, m->bytes);
    }
    pthread_mutex_lock(&s->lock);
    unregister_memory(s, m);
    pthread_mutex_unlock(&s->lock);
}

/* ---- buffers ---- */

fusion_status client_buffer_open(fusion_session *s, fusion_buffer *b, const char *name)
{
    b->memory.session = s;
    b->memory.buffer = b;
    pthread_mutex_lock(&s->lock);
    fusion_status status = register_memory(s, &b->memory);
    pthread_mutex_unlock(&s->lock);
    if (status != FUSION_SUCCESS) return status;
    if (name)
        b->name = strdup(name);
    else if (asprintf(&b->name, "%s%" PRIu64, b->memory.image ? "image" : "buffer", b->memory.id >> ID_SLOT_BITS) < 0)
        b->name = NULL;
    return FUSION_SUCCESS;
}

fusion_status fusion_buffer_create(fusion_session *s, const char *name, fusion_type type, uint64_t count,
                                   unsigned properties, fusion_buffer **buffer)
{
    const char *object = name ? name : "buffer";
    uint32_t width = client_type_bytes(type);
    if (!width) return client_error(FUSION_INVALID, object, "unknown element type %d", (int)type);
    if (count == 0 || count > UINT64_C(1) << 40)
        return client_error(FUSION_INVALID, object, "a count of 1 to 2^40 elements is needed, not %" PRIu64, count);
    if (strlen(object) > PROTO_MAX_NAME)
        return client_error(FUSION_INVALID, "buffer", "the name is longer than %d bytes", PROTO_MAX_NAME);
    fusion_status status = client_check_properties(properties, object);
    if (status != FUSION_SUCCESS) return status;

    fusion_buffer *b = calloc(1, sizeof *b);
    if (!b) return client_error(FUSION_OUT_OF_MEMORY, object, "no memory");
    b->memory.bytes = count * width;
    b->type = type;
    b->count = count;
    b->properties = properties;
    status = client_buffer_open(s, b, name);
    if (status == FUSION_SUCCESS)
        *buffer = b;
    else
        free(b);
    return status;
}

fusion_status fusion_buffer_map(fusion_buffer *b, void **memory)
{
    if (client_is_foreign(b->memory.session)) return client_foreign(b->name);
    fusion_status status = client_memory_ensure(&b->memory);
    if (status != FUSION_SUCCESS) return status;
    if (b->memory.last_event) client_wait(b->memory.session, b->memory.last_event, -1, NULL);
    *memory = b->memory.map;
    return FUSION_SUCCESS;
}

uint64_t fusion_buffer_bytes(const fusion_buffer *b)
{
    return b->memory.bytes;
}

bool fusion_buffer_has_memory(const fusion_buffer *b)
{
    return b->memory.map != NULL;
}

static void free_buffer(fusion_buffer *b)
{
    free(b->name);
    free(b);
}

void fusion_buffer_destroy(fusion_buffer *b)
{
    if (!b) return;
    drop_memory(&b->memory);
    free_buffer(b);
}

/* ---- USM ---- */

/* Index of the first allocation above pointer in the sorted list. */
static uint32_t usm_upper(const fusion_session *s, const void *pointer)
{
    uint32_t low = 0, high = s->n_usm;
    while (low < high) {
        uint32_t middle = (low + high) / 2;
        if ((uintptr_t)s->usm[middle]->map <= (uintptr_t)pointer)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

struct memory *client_usm_find(fusion_session *s, const void *pointer)
{
    uint32_t i = usm_upper(s, pointer);
    if (i == 0) return NULL;
    struct memory *m = s->usm[i - 1];
    return (uintptr_t)pointer - (uintptr_t)m->map < m->bytes ? m : NULL;
}

static fusion_status insert_usm(fusion_session *s, struct memory *m)
{
    if (!client_reserve(&s->usm, s->n_usm, &s->usm_capacity, sizeof *s->usm))
        return client_error(FUSION_OUT_OF_MEMORY, "session", "no memory");
    uint32_t at = usm_upper(s, m->map);
    memmove(&s->usm[at + 1], &s->usm[at], (s->n_usm - at) * sizeof *s->usm);
    s->usm[at] = m;
    s->n_usm++;
    return FUSION_SUCCESS;
}

fusion_status fusion_malloc(fusion_session *s, fusion_usm_kind kind, size_t bytes, void **pointer)
{
    if ((unsigned)kind > FUSION_USM_SHARED)
        return client_error(FUSION_INVALID, "usm allocation", "unknown kind %d", (int)kind);
    if (bytes == 0 || bytes > UINT64_C(1) << 43)
        return client_error(FUSION_INVALID, "usm allocation", "1 to 2^43 bytes are needed, not %zu", bytes);
    struct memory *m = calloc(1, sizeof *m);
    if (!m) return client_error(FUSION_OUT_OF_MEMORY, "usm allocation", "no memory");
    *m = (struct memory){.session = s, .bytes = bytes, .usm = true};
    pthread_mutex_lock(&s->lock);
    fusion_status status = register_memory(s, m);
    pthread_mutex_unlock(&s->lock);
    if (status != FUSION_SUCCESS) {
        free(m);
        return status;
    }
    status = client_memory_ensure(m);
    if (status == FUSION_SUCCESS) {
        pthread_mutex_lock(&s->lock);
        status = insert_usm(s, m);
        pthread_mutex_unlock(&s->lock);
    }
    if (status != FUSION_SUCCESS) {
        drop_memory(m);
        free(m);
        return status;
    }
    *pointer = m->map;
    return FUSION_SUCCESS;
}

fusion_status fusion_free(fusion_session *s, void *pointer)
{
    if (!pointer) return FUSION_SUCCESS;
    pthread_mutex_lock(&s->lock);
    uint32_t above = usm_upper(s, pointer);
    struct memory *m = above && s->usm[above - 1]->map == pointer ? s->usm[above - 1] : NULL;
    if (m) {
        memmove(&s->usm[above - 1], &s->usm[above], (s->n_usm - above) * sizeof *s->usm);
        s->n_usm--;
    }
    pthread_mutex_unlock(&s->lock);
    if (!m)
        return client_error(FUSION_INVALID, "usm allocation", "%p is not the start of an allocation of this session",
                            pointer);
    drop_memory(m);
    free(m);
    return FUSION_SUCCESS;
}

fusion_status client_memory_of(fusion_session *s, const fusion_memory *place, uint64_t bytes, struct memory **m,
                               uint64_t *offset)
{
    if (place->buffer) {
        *m = &place->buffer->memory;
        *offset = place->offset;
        if ((*m)->session != s)
            return client_error(FUSION_INVALID, place->buffer->name, "the buffer belongs to another session");
    } else {
        pthread_mutex_lock(&s->lock);
        *m = client_usm_find(s, place->pointer);
        pthread_mutex_unlock(&s->lock);
        if (!*m)
            return client_error(FUSION_NOT_FOUND, "usm pointer", "%p lies in no allocation of this session",
                                place->pointer);
        *offset = (uintptr_t)place->pointer - (uintptr_t)(*m)->map;
    }
    if (*offset > (*m)->bytes || bytes > (*m)->bytes - *offset)
        return client_error(FUSION_INVALID, memory_name(*m),
                            "%" PRIu64 " bytes from offset %" PRIu64 " reach beyond its %" PRIu64 " bytes", bytes,
                            *offset, (*m)->bytes);
    return FUSION_SUCCESS;
}

void client_memories_clear(fusion_session *s)
{
    for (uint32_t i = 0; i < s->n_memories; i++) {
        struct memory *m = s->memories[i];
        if (!m) continue;
        void *map = m->map ? m->map : m->late_map;
        if (map) munmap(map, m->bytes);
        if (m->buffer)
            free_buffer(m->buffer);
        else
            free(m);
    }
    free(s->memories);
    free(s->free_places);
    free(s->usm);
}
