/* Checking and binding submissions. An entry is a client's word: nothing in it is used before it is checked. */
#include "daemon/executor/ring/submission.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/executor/program/buffers.h"
#include "daemon/executor/program/conditions.h"
#include "daemon/executor/program/executables.h"
#include "daemon/executor/program/slot_memory.h"
#include "daemon/executor/program/states.h"
#include "ir/base/arena.h"
#include "proto/include/fusiond/status.h"

const char submission_lost[] =
    "the contents were in the memory of a device, and were lost with the executor that used it; they are what the host "
    "last saw";

static void reserve(struct submission *s, const struct program *p)
{
    if (p->n_slots > s->slots_capacity) {
        s->bindings = arena_realloc(s->bindings, p->n_slots * sizeof *s->bindings);
        s->slots = arena_realloc(s->slots, p->n_slots * sizeof *s->slots);
        s->order = arena_realloc(s->order, p->n_slots * sizeof *s->order);
        s->places = arena_realloc(s->places, p->n_slots * sizeof *s->places);
        s->context.slots = s->slots;
        s->slots_capacity = p->n_slots;
    }
    if (p->n_values > s->values_capacity) {
        s->values = arena_realloc(s->values, p->n_values * sizeof *s->values);
        s->values_capacity = p->n_values;
    }
}

static int fail_slot(struct error *e, fusion_status status, const struct program_slot *slot, const char *reason)
{
    char object[300];
    snprintf(object, sizeof object, "buffer %s", slot->name);
    return error_set(e, status, object, "%s", reason);
}

/* ---- what the entry says, on top of what finalize said ---- */

enum { HOST_ANYTHING = RING_HOST_READS | RING_HOST_WRITES };

static int read_bindings(struct submission *s, const struct executable *x, const uint8_t *at, uint32_t n,
                         struct error *e)
{
    for (uint32_t i = 0; i < x->program->n_slots; i++)
        s->bindings[i] = (struct binding){.id = x->bindings[i], .host = HOST_ANYTHING};
    for (uint32_t i = 0; i < n; i++) {
        struct ring_binding b;
        memcpy(&b, at + i * sizeof b, sizeof b);
        if (b.slot >= x->program->n_slots)
            return error_set_id(e, FUSION_INVALID, "slot", b.slot, "the executable has %u slots", x->program->n_slots);
        s->bindings[b.slot] = (struct binding){.id = b.buffer, .offset = b.offset, .host = b.host};
    }
    return 0;
}

static int read_values(struct submission *s, const struct executable *x, const uint8_t *at, uint32_t n, struct error *e)
{
    const struct program *p = x->program;
    for (uint32_t i = 0; i < p->n_values; i++) s->values[i] = x->values[i];
    for (uint32_t i = 0; i < n; i++) {
        struct ring_value v;
        memcpy(&v, at, sizeof v);
        at += sizeof v;
        if (v.value >= p->n_values)
            return error_set_id(e, FUSION_INVALID, "value", v.value, "the executable has %u values", p->n_values);
        if (v.size != p->value_sizes[v.value])
            return error_set_id(e, FUSION_INVALID, "value", v.value, "has %u bytes, but %u were given",
                                p->value_sizes[v.value], v.size);
        s->values[v.value] = at;
        at += (v.size + 7) & ~(uint32_t)7;
    }
    return 0;
}

/* ---- memory ---- */

/* Of a slot that only spares use, or bands that cannot be: what it is bound to, if that is there, or memory of the
 * executable's own. */
static int hold_spare(struct submission *s, struct executable *x, uint32_t i, struct error *e)
{
    struct binding *b = &s->bindings[i];
    uint64_t bytes = x->program->slots[i].bytes;
    b->buffer = b->id ? buffers_get(s->context.buffers, b->id) : NULL;
    if (b->buffer && (b->offset > b->buffer->bytes || b->buffer->bytes - b->offset < bytes)) {
        buffers_put(b->buffer);
        b->buffer = NULL;
    }
    if (!b->buffer) {
        b->offset = b->host = 0;
        b->buffer = executable_spare_memory(x, i, e);
        if (!b->buffer) return -1;
    }
    s->slots[i].memory = b->buffer->memory + b->offset;
    s->slots[i].buffer = b->buffer;
    s->slots[i].host = b->host;
    return 0;
}

static int hold_buffer(struct submission *s, const struct program_slot *slot, struct binding *b,
                       struct slot_memory *out, struct error *e)
{
    char reason[200];
    *out = (struct slot_memory){.name = slot->name, .bytes = slot->bytes, .host = b->host};
    if (!slot->needed) return 0;
    if (!b->id) return fail_slot(e, FUSION_NOT_FOUND, slot, "is not bound to any memory");
    b->buffer = buffers_get(s->context.buffers, b->id);
    if (!b->buffer) {
        snprintf(reason, sizeof reason, "is bound to buffer %" PRIu64 ", which is not attached", b->id);
        return fail_slot(e, FUSION_NOT_FOUND, slot, reason);
    }
    if (b->offset > b->buffer->bytes || b->buffer->bytes - b->offset < slot->bytes) {
        snprintf(reason, sizeof reason,
                 "needs %" PRIu64 " bytes, but is bound to offset %" PRIu64 " of a buffer with %" PRIu64 " bytes",
                 slot->bytes, b->offset, b->buffer->bytes);
        return fail_slot(e, FUSION_INVALID, slot, reason);
    }
    out->memory = b->buffer->memory + b->offset;
    out->buffer = b->buffer;
    return 0;
}

static int hold_ring(struct submission *s, struct executable *x, uint32_t i, struct error *e)
{
    const struct buffer *ring = executable_ring_memory(x, i, e);
    if (!ring) return -1;
    s->slots[i].memory = ring->memory;
    return 0;
}

static int hold_own(struct submission *s, struct executable *x, bool spares, uint32_t i, struct error *e)
{
    const struct program_slot *slot = &x->program->slots[i];
    if (slot->ring && x->in_bands) return hold_ring(s, x, i, e);
    return slot->ring || (spares && slot->spare) ? hold_spare(s, x, i, e) : 0;
}

static int hold_buffers(struct submission *s, struct executable *x, bool spares, struct error *e)
{
    const struct program *p = x->program;
    for (uint32_t i = 0; i < p->n_slots; i++)
        if (hold_buffer(s, &p->slots[i], &s->bindings[i], &s->slots[i], e) != 0 || hold_own(s, x, spares, i, e) != 0)
            return -1;
    return 0;
}

/* Of all that the submission uses, once: the next one runs with what there is. */
static int check_lost(const struct submission *s, const struct program *p, struct error *e)
{
    char names[200] = "";
    size_t at = 0;
    for (uint32_t i = 0; i < p->n_slots; i++) {
        if (!s->bindings[i].buffer || !buffer_was_lost(s->bindings[i].buffer)) continue;
        int n = snprintf(names + at, sizeof names - at, "%s%s", at ? ", " : "buffer ", p->slots[i].name);
        at = n < 0 || at + (size_t)n >= sizeof names ? sizeof names - 1 : at + (size_t)n;
    }
    return at ? error_set(e, FUSION_LOST, names, "%s", submission_lost) : 0;
}

static bool same_memory(const struct buffer *a, const struct buffer *b)
{
    return a->device == b->device && a->inode == b->inode;
}

static int compare_places(const void *a, const void *b, void *data)
{
    const struct submission *s = data;
    const struct binding *x = &s->bindings[*(const uint32_t *)a], *y = &s->bindings[*(const uint32_t *)b];
    if (x->buffer->device != y->buffer->device) return x->buffer->device < y->buffer->device ? -1 : 1;
    if (x->buffer->inode != y->buffer->inode) return x->buffer->inode < y->buffer->inode ? -1 : 1;
    if (x->offset != y->offset) return x->offset < y->offset ? -1 : 1;
    return 0;
}

/* The slot of those before, in the same memory, that reaches furthest; n_slots: none. */
struct reach {
    uint32_t slot;
    uint64_t end;
};

static int fail_overlap(const struct program *p, uint32_t a, uint32_t b, struct error *e)
{
    char object[640];
    uint32_t first = a < b ? a : b, second = a < b ? b : a;
    snprintf(object, sizeof object, "buffers %s and %s", p->slots[first].name, p->slots[second].name);
    return error_set(
        e, FUSION_INVALID, object,
        "were distinct when the graph was finalized, but overlap in memory now, and one of them is written");
}

/* Distinct slots may share memory only where all of them just read it. */
static int check_overlap(struct submission *s, const struct program *p, struct error *e)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < p->n_slots; i++)
        if (s->bindings[i].buffer) s->order[n++] = i;
    if (n == 0) return 0;
    qsort_r(s->order, n, sizeof *s->order, compare_places, s);
    struct reach any = {0}, written = {0};
    for (uint32_t i = 0; i < n; i++) {
        uint32_t slot = s->order[i];
        const struct binding *b = &s->bindings[slot];
        uint64_t end = b->offset + p->slots[slot].bytes;
        if (i == 0 || !same_memory(b->buffer, s->bindings[s->order[i - 1]].buffer)) any = written = (struct reach){0};
        if (p->slots[slot].written && any.end > b->offset) return fail_overlap(p, any.slot, slot, e);
        if (written.end > b->offset) return fail_overlap(p, written.slot, slot, e);
        if (end > any.end) any = (struct reach){slot, end};
        if (p->slots[slot].written && end > written.end) written = (struct reach){slot, end};
    }
    return 0;
}

/* ---- how it runs ---- */

/* Where the device cannot say so, they are not. */
static bool pipes_are_empty(const struct executable *x, const struct program_launch *l)
{
    const struct device *device = x->program->device;
    for (uint32_t i = 0; i < l->n_conditions; i++) {
        const struct program_condition *c = &l->conditions[i];
        if (!c->is_pipe) continue;
        if (!device->pipe_is_empty || !device->pipe_is_empty(x->states[c->value]->memory)) return false;
    }
    return true;
}

/* Decides which launches run by their spares. True: some do. */
static bool choose_launches(const struct submission *s, struct executable *x)
{
    bool spares = false;
    for (uint32_t i = 0; i < x->program->n_launches; i++) {
        const struct program_launch *launch = &x->program->launches[i];
        x->launches[i].by_spares = launch->n_conditions &&
                                   !(conditions_hold(x->program, launch->conditions, launch->n_conditions, s->values) &&
                                     pipes_are_empty(x, launch));
        spares |= x->launches[i].by_spares;
    }
    if (spares && !x->spares_ran) s->spares_run(x->id);
    x->spares_ran |= spares;
    return spares;
}

/* Launches that run band by band do so where that is right for all of them. */
static void choose_bands(const struct submission *s, struct executable *x, bool spares)
{
    const struct program *p = x->program;
    x->in_bands = p->n_bands && !spares;
    for (uint32_t i = 0; i < p->n_bands; i++)
        x->in_bands &= conditions_hold(p, p->bands[i].conditions, p->bands[i].n_conditions, s->values);
}

static void fill_launch(struct submission *s, const struct executable *x, uint32_t i)
{
    const struct program_launch *launch = &x->program->launches[i];
    uint8_t *args = x->launches[i].args;
    for (uint32_t k = 0; k < launch->n_params; k++) {
        const struct program_param *param = &launch->params[k];
        if (param->kind == PROGRAM_PARAM_SLOT) {
            const uint8_t *address = s->slots[param->index].memory + param->offset;
            memcpy(args + param->at, &address, sizeof address);
        } else if (param->kind == PROGRAM_PARAM_IMAGE) {
            struct ir_image *image = &x->launches[i].images[k];
            image->data = s->slots[param->index].memory + param->offset;
            memcpy(args + param->at, &image, sizeof image);
        } else if (param->kind == PROGRAM_PARAM_VALUE) {
            memcpy(args + param->at, s->values[param->index], param->size);
        } /* local: an offset, there since the executable was loaded */
    }
}

/* Of those that run. */
static void fill_args(struct submission *s, const struct executable *x)
{
    for (uint32_t i = 0; i < x->program->n_launches; i++) {
        const struct program_launch *launch = &x->program->launches[i];
        if (!launch->is_spare && !x->launches[i].by_spares) fill_launch(s, x, i);
        for (uint32_t k = 0; k < launch->n_spares && x->launches[i].by_spares; k++)
            fill_launch(s, x, launch->first_spare + k);
    }
}

static const uint8_t *bindings_of(const struct submission *s)
{
    return s->entry + sizeof s->header;
}

int submission_prepare(struct submission *s)
{
    struct executable *x = s->x;
    const struct ring_entry *header = &s->header;
    struct error *e = &s->error;
    const struct program *p = x->program;
    const uint8_t *values = bindings_of(s) + header->n_bindings * sizeof(struct ring_binding);
    reserve(s, p);
    if (read_bindings(s, x, bindings_of(s), header->n_bindings, e) != 0 ||
        read_values(s, x, values, header->n_values, e) != 0)
        return -1;
    bool spares = choose_launches(s, x);
    choose_bands(s, x, spares);
    if (hold_buffers(s, x, spares, e) != 0 || check_lost(s, p, e) != 0 || check_overlap(s, p, e) != 0) return -1;
    if (header->part >= p->n_parts)
        return error_set_id(e, FUSION_INVALID, "submission", header->sequence, "part %u of an executable that has %u",
                            header->part, p->n_parts);
    if (p->debug && p->device->debug_begin(x, header->part, s->slots, e) != 0) return -1;
    fill_args(s, x);
    return 0;
}

void submission_release(struct submission *s)
{
    for (uint32_t i = 0; i < s->x->program->n_slots; i++) buffers_put(s->bindings[i].buffer);
}

void submission_exchange(struct submission *s)
{
    struct executable *ran = s->x;
    s->x = s->other;
    s->rounds = s->other_rounds;
    s->other = ran;
    s->other_rounds = 0;
}

/* They are the last that the entry has. A number that has none of its own is that of the next one with one. */
bool submission_is_after(const struct submission *s, const struct submission *first)
{
    const uint8_t *end = s->entry + s->header.size;
    for (uint32_t i = 1; i <= s->header.n_after; i++) {
        uint64_t sequence;
        memcpy(&sequence, end - i * sizeof sequence, sizeof sequence);
        if (sequence > first->before && sequence <= first->header.sequence) return true;
    }
    return false;
}

uint64_t submission_room(const struct submission *s)
{
    return s->slots_capacity * (sizeof *s->bindings + sizeof *s->slots + sizeof *s->order + sizeof *s->places) +
           s->values_capacity * sizeof *s->values;
}

void submission_free(struct submission *s)
{
    free(s->bindings);
    free(s->slots);
    free(s->order);
    free(s->places);
    free(s->values);
    free(s);
}

/* ---- where it has memory ---- */

static void add_place(struct submission *s, uint64_t bytes, bool written, const struct binding *b)
{
    struct buffer *buffer = b->buffer ? b->buffer : buffers_get(s->context.buffers, b->id);
    if (!buffer) return;
    s->places[s->n_places++] = (struct place){buffer->device, buffer->inode, b->offset, b->offset + bytes, written};
    if (!b->buffer) buffers_put(buffer);
}

static bool has_memory(const struct program_slot *slot)
{
    return slot->needed || slot->spare || slot->ring;
}

/* Of both executables, where it has two. */
void submission_find_places(struct submission *s)
{
    struct error unused;
    const struct program *p = s->x->program, *other = s->other ? s->other->program : p;
    s->n_places = 0;
    if (!s->begun) {
        reserve(s, p);
        if (read_bindings(s, s->x, bindings_of(s), s->header.n_bindings, &unused) != 0) return;
    }
    for (uint32_t i = 0; i < p->n_slots; i++)
        if (s->bindings[i].id && (has_memory(&p->slots[i]) || has_memory(&other->slots[i])))
            add_place(s, p->slots[i].bytes, p->slots[i].written || other->slots[i].written, &s->bindings[i]);
}
