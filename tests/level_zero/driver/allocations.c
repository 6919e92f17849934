#include "tests/level_zero/driver/allocations.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "tests/level_zero/driver/limits.h"

enum { PAGE = 4096, FRESH_BYTES = 1 << 20, FRESH = 0xa5 };

static struct {
    pthread_mutex_t lock;
    struct allocation *all;
    size_t n, capacity;
    uint64_t next_id, device_bytes;
} table = {.lock = PTHREAD_MUTEX_INITIALIZER, .next_id = 1};

static size_t round_up(size_t n, size_t to)
{
    return (n + to - 1) / to * to;
}

static struct allocation *find(ze_context_handle_t context, const void *p)
{
    for (size_t i = 0; i < table.n; i++) {
        struct allocation *a = &table.all[i];
        if (a->context == context && (const char *)p >= (char *)a->base && (const char *)p < (char *)a->base + a->size)
            return a;
    }
    return NULL;
}

static void unmap(struct allocation *a)
{
    munmap(a->mapping, a->mapping_size);
    if (a->file >= 0) close(a->file);
}

/* An address space with a page before and after that nobody may touch, then memory in its middle. */
static ze_result_t map(struct allocation *a)
{
    size_t alignment = a->alignment > PAGE ? a->alignment : PAGE, bytes = round_up(a->size, PAGE);
    a->mapping_size = bytes + alignment + 2 * PAGE;
    a->mapping = mmap(NULL, a->mapping_size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (a->mapping == MAP_FAILED) return ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY;
    a->base = (void *)round_up((size_t)a->mapping + PAGE, alignment);
    int flags = a->file >= 0 ? MAP_SHARED : MAP_PRIVATE | MAP_ANONYMOUS;
    if (mmap(a->base, bytes, PROT_READ | PROT_WRITE, flags | MAP_FIXED, a->file, 0) != MAP_FAILED)
        return ZE_RESULT_SUCCESS;
    munmap(a->mapping, a->mapping_size);
    return a->imported ? ZE_RESULT_ERROR_INVALID_ARGUMENT : ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY;
}

/* What is in new memory is undefined, so it is not zeros. */
static void fill_fresh(struct allocation *a)
{
    memset(a->base, FRESH, a->size < FRESH_BYTES ? a->size : FRESH_BYTES);
}

static ze_result_t make(struct allocation *a, bool exported)
{
    if (exported) {
        a->file = memfd_create("level-zero", MFD_CLOEXEC);
        if (a->file < 0 || ftruncate(a->file, (off_t)round_up(a->size, PAGE)) != 0)
            return ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY;
    }
    ze_result_t result = map(a);
    if (result != ZE_RESULT_SUCCESS && a->file >= 0) close(a->file);
    if (result == ZE_RESULT_SUCCESS && !a->imported) fill_fresh(a);
    return result;
}

static bool enter(struct allocation *a)
{
    pthread_mutex_lock(&table.lock);
    bool fits = a->type == ZE_MEMORY_TYPE_HOST || table.device_bytes + a->size <= limit_memory();
    if (fits && table.n == table.capacity) {
        size_t capacity = table.capacity ? 2 * table.capacity : 64;
        struct allocation *all = realloc(table.all, capacity * sizeof *all);
        fits = all != NULL;
        if (fits) table.all = all, table.capacity = capacity;
    }
    if (fits) {
        a->id = table.next_id++;
        table.all[table.n++] = *a;
        if (a->type != ZE_MEMORY_TYPE_HOST) table.device_bytes += a->size;
    }
    pthread_mutex_unlock(&table.lock);
    return fits;
}

ze_result_t allocations_add(struct allocation *a, bool exported)
{
    ze_result_t result = make(a, exported);
    if (result != ZE_RESULT_SUCCESS) return result;
    if (enter(a)) return ZE_RESULT_SUCCESS;
    unmap(a);
    return ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY;
}

bool allocations_find(ze_context_handle_t context, const void *p, struct allocation *found)
{
    pthread_mutex_lock(&table.lock);
    const struct allocation *a = find(context, p);
    if (a) *found = *a;
    pthread_mutex_unlock(&table.lock);
    return a != NULL;
}

static void remove_at(struct allocation *a)
{
    if (a->type != ZE_MEMORY_TYPE_HOST) table.device_bytes -= a->size;
    unmap(a);
    *a = table.all[--table.n];
}

bool allocations_remove(ze_context_handle_t context, const void *base)
{
    pthread_mutex_lock(&table.lock);
    struct allocation *a = find(context, base);
    bool is_base = a && a->base == base;
    if (is_base) remove_at(a);
    pthread_mutex_unlock(&table.lock);
    return is_base;
}

void allocations_free_all(ze_context_handle_t context)
{
    pthread_mutex_lock(&table.lock);
    for (size_t i = table.n; i-- > 0;)
        if (table.all[i].context == context) remove_at(&table.all[i]);
    pthread_mutex_unlock(&table.lock);
}
