#include "tests/level_zero/driver/allocations.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "tests/level_zero/driver/limits.h"
#include "tests/level_zero/machine/machine.h"

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

static struct allocation *find(const void *p)
{
    for (size_t i = 0; i < table.n; i++) {
        struct allocation *a = &table.all[i];
        if ((const char *)p >= (char *)a->base && (const char *)p < (char *)a->base + a->size) return a;
    }
    return NULL;
}

static size_t pages(size_t size)
{
    return round_up(size, PAGE);
}

/* The first room between those that are there, with a page on each side: where in the table. NULL: there is none. */
static void *find_room(const struct allocation *a, size_t *at)
{
    size_t all, alignment = a->alignment > PAGE ? a->alignment : PAGE;
    uint8_t *memory = machine_memory(&all), *from = memory;
    for (*at = 0; *at <= table.n; ++*at) {
        uint8_t *base = (uint8_t *)round_up((size_t)from + PAGE, alignment);
        uint8_t *end = *at < table.n ? table.all[*at].base : memory + all;
        if (base < end && (size_t)(end - base) > pages(a->size) + PAGE) return base;
        if (*at < table.n) from = (uint8_t *)end + pages(table.all[*at].size);
    }
    return NULL;
}

static bool is_file(const struct allocation *a)
{
    return a->file >= 0;
}

/* A file takes the place of common memory, here and in the machine. */
static bool show(struct allocation *a)
{
    int flags = MAP_SHARED | MAP_FIXED;
    if (is_file(a) && mmap(a->base, pages(a->size), PROT_READ | PROT_WRITE, flags, a->file, 0) == MAP_FAILED)
        return false;
    return machine_show(a->base, pages(a->size), a->file);
}

static void hide(struct allocation *a)
{
    machine_hide(a->base, pages(a->size));
    if (is_file(a)) {
        machine_restore(a->base, pages(a->size));
        close(a->file);
    } else {
        madvise(a->base, pages(a->size), MADV_REMOVE);
    }
}

/* What is in new memory is undefined, so it is not zeros. */
static void fill_fresh(struct allocation *a)
{
    memset(a->base, FRESH, a->size < FRESH_BYTES ? a->size : FRESH_BYTES);
}

static bool has_room(void)
{
    if (table.n < table.capacity) return true;
    size_t capacity = table.capacity ? 2 * table.capacity : 64;
    struct allocation *all = realloc(table.all, capacity * sizeof *all);
    if (!all) return false;
    table.all = all;
    table.capacity = capacity;
    return true;
}

static ze_result_t enter(struct allocation *a)
{
    size_t at;
    if (a->type != ZE_MEMORY_TYPE_HOST && table.device_bytes + a->size > limit_memory())
        return ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY;
    if (!has_room()) return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
    a->base = find_room(a, &at);
    if (!a->base) return ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY;
    if (!show(a)) {
        if (is_file(a)) machine_restore(a->base, pages(a->size));
        return a->imported ? ZE_RESULT_ERROR_INVALID_ARGUMENT : ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY;
    }
    a->id = table.next_id++;
    memmove(&table.all[at + 1], &table.all[at], (table.n++ - at) * sizeof *a);
    table.all[at] = *a;
    if (a->type != ZE_MEMORY_TYPE_HOST) table.device_bytes += a->size;
    return ZE_RESULT_SUCCESS;
}

ze_result_t allocations_add(struct allocation *a, bool exported)
{
    if (exported) {
        a->file = memfd_create("level-zero", MFD_CLOEXEC);
        if (a->file < 0 || ftruncate(a->file, (off_t)pages(a->size)) != 0) return ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY;
    }
    pthread_mutex_lock(&table.lock);
    ze_result_t result = enter(a);
    pthread_mutex_unlock(&table.lock);
    if (result == ZE_RESULT_SUCCESS && !a->imported) fill_fresh(a);
    if (result != ZE_RESULT_SUCCESS && is_file(a)) close(a->file);
    return result;
}

bool allocations_find(const void *p, struct allocation *found)
{
    pthread_mutex_lock(&table.lock);
    const struct allocation *a = find(p);
    if (a) *found = *a;
    pthread_mutex_unlock(&table.lock);
    return a != NULL;
}

static void remove_at(struct allocation *a)
{
    if (a->type != ZE_MEMORY_TYPE_HOST) table.device_bytes -= a->size;
    hide(a);
    memmove(a, a + 1, (size_t)(&table.all[--table.n] - a) * sizeof *a);
}

bool allocations_remove(const void *base)
{
    pthread_mutex_lock(&table.lock);
    struct allocation *a = find(base);
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
