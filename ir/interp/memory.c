/*
 * The interpreter's memory: allocations, pointers into them, and the checks of every access. A pointer is the number of
 * an allocation above a biased offset, so that one that leaves its memory is known as such. What is found in global
 * memory is an address in this process, below those of the first allocation: it is looked up where it is found, or
 * used.
 */
#include "ir/interp/memory.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ir/interp/shadow.h"

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
static bool holds_place(const struct allocation *a, uint64_t place)
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
        if (holds_place(&memory->items[i], address))
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
