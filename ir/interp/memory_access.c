/* Accesses: each is held against the allocation that it goes to. */
#include "ir/interp/memory_access.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "ir/interp/memory.h"
#include "ir/interp/race.h"
#include "ir/interp/report.h"

static const char *access_verb(const struct access *a)
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
        interp_report(m, INTERP_OUT_OF_BOUNDS, item, at, "%s %" PRIu64 " bytes through a null pointer", access_verb(a),
                      a->size);
    else if (!memory)
        interp_report(m, INTERP_OUT_OF_BOUNDS, item, at,
                      "%s %" PRIu64 " bytes at address %#" PRIx64 ", where there is no memory", access_verb(a), a->size,
                      a->address);
    else if (!memory->live)
        interp_report(m, INTERP_OUT_OF_BOUNDS, item, at, "%s %" PRIu64 " bytes in %s, which has returned",
                      access_verb(a), a->size, interp_memory_describe(memory, what, sizeof what));
    return memory && memory->live;
}

static bool check_bounds(struct machine *m, struct item *item, const struct code_inst *at, const struct access *a,
                         const struct allocation *memory)
{
    int64_t offset = interp_memory_offset(a->address);
    if (offset >= 0 && (uint64_t)offset <= memory->size && a->size <= memory->size - (uint64_t)offset) return true;
    char what[160], text[240];
    snprintf(text, sizeof text, "%s %" PRIu64 " bytes at offset %" PRId64 " of %s", access_verb(a), a->size, offset,
             interp_memory_describe(memory, what, sizeof what));
    interp_report_outside(m, item, at, offset, a->size, text);
    return false;
}

static bool check_space(struct machine *m, struct item *item, const struct code_inst *at, const struct access *a,
                        const struct allocation *memory)
{
    if (m->options.tolerant || a->space == memory->space) return true;
    if (a->space == IR_SPACE_GENERIC && memory->space != IR_SPACE_CONSTANT) return true;
    char what[160];
    interp_report(m, INTERP_INVALID, item, at, "%s %" PRIu64 " bytes by a %s pointer in the %s memory of %s",
                  access_verb(a), a->size, space_name(a->space), space_name(memory->space),
                  interp_memory_describe(memory, what, sizeof what));
    return false;
}

static bool check_owner(struct machine *m, struct item *item, const struct code_inst *at, const struct access *a,
                        const struct allocation *memory)
{
    if (m->options.tolerant || memory->space != IR_SPACE_PRIVATE || memory->owner == item->number) return true;
    char what[160];
    interp_report(m, INTERP_INVALID, item, at, "%s %" PRIu64 " bytes in another work-item's private memory, %s",
                  access_verb(a), a->size, interp_memory_describe(memory, what, sizeof what));
    return false;
}

static bool check_allowed(struct machine *m, struct item *item, const struct code_inst *at, const struct access *a,
                          const struct allocation *memory)
{
    bool read = (a->flags & ACCESS_READ) && memory->no_read, write = (a->flags & ACCESS_WRITE) && memory->no_write;
    if (m->options.tolerant || (!read && !write)) return true;
    char what[160];
    interp_report(m, INTERP_INVALID, item, at, "%s %" PRIu64 " bytes in %s, which is for %s only", access_verb(a),
                  a->size, interp_memory_describe(memory, what, sizeof what), write ? "reading" : "writing");
    return !write;
}

/* Misaligned accesses are done all the same: the finding says enough. */
static void check_alignment(struct machine *m, struct item *item, const struct code_inst *at, const struct access *a,
                            const struct allocation *memory)
{
    if (m->options.tolerant || a->align <= 1 || interp_memory_offset(a->address) % a->align == 0) return;
    char what[160];
    interp_report(m, INTERP_INVALID, item, at, "%s %" PRIu64 " bytes at offset %" PRId64 " of %s is not aligned to %u",
                  access_verb(a), a->size, interp_memory_offset(a->address),
                  interp_memory_describe(memory, what, sizeof what), a->align);
}

static void check_written(struct machine *m, struct item *item, const struct code_inst *at, const struct access *a,
                          const struct allocation *memory, uint64_t offset)
{
    const uint8_t *hole = memchr(memory->written + offset, 0, a->size);
    if (!hole) return;
    char what[160];
    interp_report(m, INTERP_UNWRITTEN, item, at,
                  "%s %" PRIu64 " bytes at offset %" PRIu64 " of %s: byte %td was never written", access_verb(a),
                  a->size, offset, interp_memory_describe(memory, what, sizeof what), hole - memory->written);
}

/* False: the one who watches has seen enough. */
static bool may_go_on(struct machine *m, const struct item *item, const struct code_inst *at, const struct access *a,
                      const struct allocation *memory, uint64_t offset)
{
    const struct interp_observer *observer = m->options.observer;
    if (!observer || memory->origin != MEMORY_ARG) return true;
    struct interp_access access = {.param = memory->index,
                                   .offset = offset,
                                   .size = a->size,
                                   .reads = a->flags & ACCESS_READ,
                                   .writes = a->flags & ACCESS_WRITE,
                                   .op = at->ir->op,
                                   .item = item->global,
                                   .after_barrier = m->group.barrier_time[1] != 0,
                                   .line = at->ir->loc.line};
    if (observer->access(observer->data, &access)) return true;
    m->stopped = true;
    return false;
}

static void count_bytes(struct machine *m, const struct access *a, const struct allocation *memory)
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
    count_bytes(m, a, memory);
    return memory->data + offset;
}
