/*
 * The interpreter's memory: allocations, pointers into them, and the checks of every access. A pointer is the number of
 * an allocation above a biased offset, so that one that leaves its memory is known as such. What is found in global
 * memory is an address in this process, below those of the first allocation: it is looked up where it is found, or
 * used.
 */
#include "ir/interp/internal.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Addresses in this process are below those of allocation FIRST. */
enum { FIRST = 1 << (48 - POINTER_OFFSET_BITS) };
enum { MAX_ALLOCATIONS = 1 << (64 - POINTER_OFFSET_BITS), RESTING = 1024 };

static const uint64_t offset_bias = 1ull << (POINTER_OFFSET_BITS - 1);

void interp_memory_init(struct memory *memory)
{
    memset(memory, 0, sizeof *memory);
    for (int i = 0; i < FIRST; i++) {
        interp_memory_add(memory, &(struct allocation){.name = "null"});
        memory->items[i].live = false;
    }
}

void interp_memory_finish(struct memory *memory)
{
    free(memory->items);
    memset(memory, 0, sizeof *memory);
}

static uint32_t take_freed(struct memory *memory)
{
    uint32_t id = memory->free_first;
    memory->free_first = memory->items[id].next_free;
    memory->n_free--;
    return id;
}

static uint32_t new_id(struct memory *memory)
{
    if (memory->n_free > RESTING) return take_freed(memory);
    if (memory->n == MAX_ALLOCATIONS) return memory->n_free ? take_freed(memory) : 0;
    if (memory->n == memory->capacity) {
        memory->capacity = memory->capacity ? memory->capacity * 2 : 64;
        memory->items = arena_realloc(memory->items, memory->capacity * sizeof *memory->items);
    }
    return memory->n++;
}

static uint64_t address_of(uint32_t id)
{
    return id == 0 ? 0 : ((uint64_t)id << POINTER_OFFSET_BITS) + offset_bias;
}

uint64_t interp_memory_add(struct memory *memory, const struct allocation *allocation)
{
    uint32_t id = new_id(memory);
    if (id == 0 && memory->n > 1) return 0;
    memory->items[id] = *allocation;
    memory->items[id].live = true;
    return address_of(id);
}

void interp_memory_end(struct memory *memory, uint64_t address)
{
    uint32_t id = (uint32_t)(address >> POINTER_OFFSET_BITS);
    struct allocation *a = &memory->items[id];
    a->live = false;
    a->data = a->written = NULL;
    if (memory->n_free++)
        memory->items[memory->free_last].next_free = id;
    else
        memory->free_first = id;
    memory->free_last = id;
}

struct allocation *interp_memory_find(struct memory *memory, uint64_t address)
{
    uint64_t id = address >> POINTER_OFFSET_BITS;
    return id < FIRST || id >= memory->n ? NULL : &memory->items[id];
}

int64_t interp_memory_offset(uint64_t address)
{
    return (int64_t)((address & ((1ull << POINTER_OFFSET_BITS) - 1)) - offset_bias);
}

uint64_t interp_memory_place(struct memory *memory, uint64_t address)
{
    const struct allocation *a = interp_memory_find(memory, address);
    return a && a->live && a->data ? (uint64_t)(uintptr_t)a->data + (uint64_t)interp_memory_offset(address) : address;
}

/* Through what an argument's parameter says that it is not for, nothing is found. */
static bool holds(const struct allocation *a, uint64_t place)
{
    uint64_t first = (uint64_t)(uintptr_t)a->data;
    return a->live && a->data && !a->no_read && !a->no_write && place >= first && place - first < a->size;
}

uint64_t interp_memory_own(struct machine *m, uint64_t address)
{
    struct memory *memory = &m->memory;
    const struct interp_finder *finder = m->options.finder;
    struct allocation found = {.space = IR_SPACE_GLOBAL, .fence = IR_FENCE_GLOBAL, .origin = MEMORY_FOUND};
    void *data;
    if (address == 0 || address >> POINTER_OFFSET_BITS >= FIRST) return address;
    for (uint32_t i = FIRST; i < memory->n; i++)
        if (holds(&memory->items[i], address))
            return address_of(i) + address - (uint64_t)(uintptr_t)memory->items[i].data;
    if (!finder || !finder->find(finder->data, address, &data, &found.size)) return address;
    found.data = data;
    if (m->options.check_races) found.cells = interp_shadow(m, found.size, sizeof *found.cells);
    uint64_t own = interp_memory_add(memory, &found);
    return own ? own + address - (uint64_t)(uintptr_t)data : address;
}

const char *interp_memory_describe(const struct allocation *a, char *buf, size_t size)
{
    const char *name = a->name ? a->name : "?";
    switch (a->origin) {
    case MEMORY_ARG: snprintf(buf, size, "argument %u `%.40s` (%" PRIu64 " bytes)", a->index, name, a->size); break;
    case MEMORY_LOCAL_ARG:
        snprintf(buf, size, "local argument %u `%.40s` (%" PRIu64 " bytes)", a->index, name, a->size);
        break;
    case MEMORY_IMAGE:
        snprintf(buf, size, "image argument %u `%.40s` (%" PRIu64 " bytes)", a->index, name, a->size);
        break;
    case MEMORY_GLOBAL: snprintf(buf, size, "variable `%.40s` of the module (%" PRIu64 " bytes)", name, a->size); break;
    case MEMORY_FOUND: snprintf(buf, size, "memory at %p (%" PRIu64 " bytes)", (void *)a->data, a->size); break;
    case MEMORY_VARIABLE:
        snprintf(buf, size, "variable `%.40s` of function `%.40s` (%" PRIu64 " bytes)", name, a->function, a->size);
        break;
    }
    return buf;
}

static const char *verb(const struct access *a)
{
    if (a->flags & ACCESS_ATOMIC) return "atomic access to";
    return a->flags & ACCESS_WRITE ? "store of" : "load of";
}

static const char *space_name(enum ir_space space)
{
    static const char *const names[] = {"private", "global", "constant", "local", "generic"};
    return names[space];
}

static bool check_alive(struct machine *m, struct item *item, const struct code_inst *at, const struct access *a,
                        const struct allocation *memory)
{
    char what[160];
    if (!memory && a->address == 0)
        interp_report(m, INTERP_OUT_OF_BOUNDS, item, at, "%s %" PRIu64 " bytes through a null pointer", verb(a),
                      a->size);
    else if (!memory)
        interp_report(m, INTERP_OUT_OF_BOUNDS, item, at,
                      "%s %" PRIu64 " bytes at address %#" PRIx64 ", where there is no memory", verb(a), a->size,
                      a->address);
    else if (!memory->live)
        interp_report(m, INTERP_OUT_OF_BOUNDS, item, at, "%s %" PRIu64 " bytes in %s, which has returned", verb(a),
                      a->size, interp_memory_describe(memory, what, sizeof what));
    return memory && memory->live;
}

static bool check_bounds(struct machine *m, struct item *item, const struct code_inst *at, const struct access *a,
                         const struct allocation *memory)
{
    int64_t offset = interp_memory_offset(a->address);
    if (offset >= 0 && (uint64_t)offset <= memory->size && a->size <= memory->size - (uint64_t)offset) return true;
    char what[160];
    interp_report(m, INTERP_OUT_OF_BOUNDS, item, at, "%s %" PRIu64 " bytes at offset %" PRId64 " of %s", verb(a),
                  a->size, offset, interp_memory_describe(memory, what, sizeof what));
    return false;
}

static bool check_space(struct machine *m, struct item *item, const struct code_inst *at, const struct access *a,
                        const struct allocation *memory)
{
    if (m->options.tolerant || a->space == memory->space) return true;
    if (a->space == IR_SPACE_GENERIC && memory->space != IR_SPACE_CONSTANT) return true;
    char what[160];
    interp_report(m, INTERP_INVALID, item, at, "%s %" PRIu64 " bytes by a %s pointer in the %s memory of %s", verb(a),
                  a->size, space_name(a->space), space_name(memory->space),
                  interp_memory_describe(memory, what, sizeof what));
    return false;
}

static bool check_owner(struct machine *m, struct item *item, const struct code_inst *at, const struct access *a,
                        const struct allocation *memory)
{
    if (m->options.tolerant || memory->space != IR_SPACE_PRIVATE || memory->owner == item->number) return true;
    char what[160];
    interp_report(m, INTERP_INVALID, item, at, "%s %" PRIu64 " bytes in another work-item's private memory, %s",
                  verb(a), a->size, interp_memory_describe(memory, what, sizeof what));
    return false;
}

static bool check_allowed(struct machine *m, struct item *item, const struct code_inst *at, const struct access *a,
                          const struct allocation *memory)
{
    bool read = (a->flags & ACCESS_READ) && memory->no_read, write = (a->flags & ACCESS_WRITE) && memory->no_write;
    if (m->options.tolerant || (!read && !write)) return true;
    char what[160];
    interp_report(m, INTERP_INVALID, item, at, "%s %" PRIu64 " bytes in %s, which is for %s only", verb(a), a->size,
                  interp_memory_describe(memory, what, sizeof what), write ? "reading" : "writing");
    return !write;
}

/* Misaligned accesses are done all the same: the finding says enough. */
static void check_alignment(struct machine *m, struct item *item, const struct code_inst *at, const struct access *a,
                            const struct allocation *memory)
{
    if (m->options.tolerant || a->align <= 1 || interp_memory_offset(a->address) % a->align == 0) return;
    char what[160];
    interp_report(m, INTERP_INVALID, item, at, "%s %" PRIu64 " bytes at offset %" PRId64 " of %s is not aligned to %u",
                  verb(a), a->size, interp_memory_offset(a->address), interp_memory_describe(memory, what, sizeof what),
                  a->align);
}

static void check_written(struct machine *m, struct item *item, const struct code_inst *at, const struct access *a,
                          const struct allocation *memory, uint64_t offset)
{
    const uint8_t *hole = memchr(memory->written + offset, 0, a->size);
    if (!hole) return;
    char what[160];
    interp_report(m, INTERP_UNWRITTEN, item, at,
                  "%s %" PRIu64 " bytes at offset %" PRIu64 " of %s: byte %td was never written", verb(a), a->size,
                  offset, interp_memory_describe(memory, what, sizeof what), hole - memory->written);
}

/* False: the one who watches has seen enough. */
static bool may_go_on(struct machine *m, const struct item *item, const struct code_inst *at, const struct access *a,
                      const struct allocation *memory, uint64_t offset)
{
    const struct interp_watcher *watcher = m->options.watcher;
    if (!watcher || memory->origin != MEMORY_ARG) return true;
    struct interp_access access = {.param = memory->index,
                                   .offset = offset,
                                   .size = a->size,
                                   .reads = a->flags & ACCESS_READ,
                                   .writes = a->flags & ACCESS_WRITE,
                                   .op = at->ir->op,
                                   .item = item->global,
                                   .met = m->group.barrier_time[1] != 0,
                                   .line = at->ir->loc.line};
    if (watcher->access(watcher->data, &access)) return true;
    m->stopped = true;
    return false;
}

static void count(struct machine *m, const struct access *a, const struct allocation *memory)
{
    if (memory->space != IR_SPACE_GLOBAL && memory->space != IR_SPACE_CONSTANT) return;
    if (a->flags & ACCESS_READ) m->result->bytes_read += a->size;
    if (a->flags & ACCESS_WRITE) m->result->bytes_written += a->size;
}

uint8_t *interp_memory_access(struct machine *m, struct item *item, const struct code_inst *at, const struct access *as)
{
    const struct access own = {interp_memory_own(m, as->address), as->size, as->space, as->align, as->flags, as->value};
    const struct access *a = &own;
    struct allocation *memory = interp_memory_find(&m->memory, a->address);
    if (!check_alive(m, item, at, a, memory) || !check_space(m, item, at, a, memory) ||
        !check_owner(m, item, at, a, memory) || !check_bounds(m, item, at, a, memory) ||
        !check_allowed(m, item, at, a, memory))
        return NULL;
    check_alignment(m, item, at, a, memory);
    uint64_t offset = (uint64_t)interp_memory_offset(a->address);
    if (!may_go_on(m, item, at, a, memory, offset)) return NULL;
    if (memory->written && (a->flags & ACCESS_READ) && !(a->flags & ACCESS_COPY))
        check_written(m, item, at, a, memory, offset);
    if (memory->cells) interp_race_note(m, item, at, memory, offset, a);
    if (memory->written && (a->flags & ACCESS_WRITE)) memset(memory->written + offset, 1, a->size);
    count(m, a, memory);
    return memory->data + offset;
}
