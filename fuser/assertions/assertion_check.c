/* The assertion check: kernels of one launch are looked at as if they ran as one. */
#include "fuser/assertions/assertion_check.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ir/base/arena.h"

/* Who touched a byte. */
struct touch {
    uint32_t run;  /* number of the kernel's run plus 1; 0: nobody */
    uint32_t item; /* linear id in the launch */
    uint32_t line;
    enum ir_op op;
    bool writes;
};

struct cell {
    struct touch writer;
    struct touch readers[2]; /* since that write: the first one, and another work-item, of another group if there is
                                one; of a group, those behind its last barrier */
    struct touch owner[2];   /* who was the first through arguments of a scope: ASSERTION_SCOPE_WORK_GROUP,
                                ASSERTION_SCOPE_WORK_ITEM */
    bool written;
};

struct checked_buffer {
    char *name;
    uint64_t bytes;
    uint32_t elem_bytes;
    const char *what;   /* "buffer", "variable" */
    struct cell *cells; /* by byte; NULL: not touched so far */
};

/* A kernel that has run, or runs. */
struct run {
    char *name;
    uint32_t launch;
    uint32_t barriers; /* of the launch so far */
    bool linear;
    struct nd_range range, launched;
};

struct assertion_check {
    struct arena *arena; /* names */
    uint32_t n_buffers;
    struct checked_buffer *buffers;
    uint32_t n_runs;
    struct run *runs;
    const struct assertion_kernel *kernel; /* of the last run */
    bool is_broken;
    char broken[1400];
};

/* ---- life ---- */

static char *copied(struct assertion_check *w, const char *name)
{
    return arena_strndup(w->arena, name, strlen(name));
}

struct assertion_check *assertion_check_new(const struct assertion_buffer *buffers, uint32_t n_buffers)
{
    struct assertion_check *w = calloc(1, sizeof *w);
    if (!w) return NULL;
    w->arena = arena_new();
    w->n_buffers = n_buffers;
    w->buffers = arena_alloc(w->arena, (n_buffers + 1) * sizeof *w->buffers);
    for (uint32_t i = 0; i < n_buffers; i++)
        w->buffers[i] = (struct checked_buffer){.name = copied(w, buffers[i].name),
                                                .bytes = buffers[i].bytes,
                                                .elem_bytes = buffers[i].elem_bytes,
                                                .what = buffers[i].is_variable ? "variable" : "buffer"};
    return w;
}

void assertion_check_restart(struct assertion_check *w)
{
    for (uint32_t i = 0; i < w->n_buffers; i++) {
        free(w->buffers[i].cells);
        w->buffers[i].cells = NULL;
    }
    w->n_runs = 0;
    w->is_broken = false;
}

void assertion_check_free(struct assertion_check *w)
{
    if (!w) return;
    assertion_check_restart(w);
    free(w->runs);
    arena_free(w->arena);
    free(w);
}

static struct cell *cells_of(struct checked_buffer *b)
{
    if (!b->cells) b->cells = calloc(b->bytes + 1, sizeof *b->cells);
    return b->cells;
}

void assertion_check_written(struct assertion_check *w, uint32_t buffer, uint64_t offset, uint64_t bytes)
{
    struct checked_buffer *b = &w->buffers[buffer];
    if (offset > b->bytes || bytes > b->bytes - offset || !cells_of(b)) return;
    for (uint64_t i = 0; i < bytes; i++) b->cells[offset + i].written = true;
}

const char *assertion_check_broken(const struct assertion_check *w)
{
    return w->is_broken ? w->broken : NULL;
}

const char *assertion_check_broken_kernel(const struct assertion_check *w)
{
    return w->runs[w->n_runs - 1].name;
}

/* ---- work-items ---- */

static uint64_t linear_id(const struct nd_range *r, const uint64_t item[3])
{
    uint64_t id = 0;
    for (unsigned d = 3; d-- > 0;) id = id * r->global[d] + (item[d] - r->offset[d]);
    return id;
}

static void item_of(const struct nd_range *r, uint64_t linear, uint64_t item[3])
{
    for (unsigned d = 0; d < 3; d++) {
        item[d] = linear % r->global[d] + r->offset[d];
        linear /= r->global[d];
    }
}

static bool same_group(const struct nd_range *launched, uint32_t a, uint32_t b)
{
    uint64_t x[3], y[3];
    item_of(launched, a, x);
    item_of(launched, b, y);
    for (unsigned d = 0; d < 3; d++)
        if ((x[d] - launched->offset[d]) / launched->local[d] != (y[d] - launched->offset[d]) / launched->local[d])
            return false;
    return true;
}

/* The global ids that the work-item of the launch has in the run's kernel. */
static const char *item_text(const struct run *r, uint32_t number, char *buf, size_t size)
{
    uint64_t id[3];
    item_of(r->linear ? &r->range : &r->launched, number, id);
    if (r->range.dims == 1) snprintf(buf, size, "%" PRIu64, id[0]);
    if (r->range.dims == 2) snprintf(buf, size, "(%" PRIu64 ", %" PRIu64 ")", id[0], id[1]);
    if (r->range.dims == 3) snprintf(buf, size, "(%" PRIu64 ", %" PRIu64 ", %" PRIu64 ")", id[0], id[1], id[2]);
    return buf;
}

/* ---- reports ---- */

/* One access, byte by byte. */
struct examined {
    struct assertion_check *w;
    const struct interp_access *access;
    const struct assertion_arg *arg;
    struct checked_buffer *buffer;
    struct touch now;
    uint64_t byte; /* of the buffer */
};

static const char *verb(const struct touch *t)
{
    return t->writes ? "writes" : "reads";
}

static const char *touch_text(const struct assertion_check *w, const struct touch *t, char *buf, size_t size)
{
    const struct run *r = &w->runs[t->run - 1];
    char item[72], line[24] = "";
    if (t->line) snprintf(line, sizeof line, " (line %u)", t->line);
    snprintf(buf, size, "work-item %s of %.40s%s", item_text(r, t->item, item, sizeof item), r->name, line);
    return buf;
}

static const char *element(const struct examined *l, char *buf, size_t size)
{
    uint64_t each = l->buffer->elem_bytes ? l->buffer->elem_bytes : l->access->size;
    snprintf(buf, size, "element %" PRIu64 " (byte %" PRIu64 ")", l->byte / each, l->byte);
    return buf;
}

static enum assertion_scope scope_of(const struct assertion_arg *arg)
{
    return arg->kept > arg->scope ? arg->kept : arg->scope;
}

/* What does not hold: what was asserted, or else what was taken for granted. */
static const char *property_of(const struct assertion_arg *arg)
{
    if (arg->kept > arg->scope) return "fusion_internal_memory";
    return arg->scope == ASSERTION_SCOPE_WORK_ITEM ? "access_scope_work_item" : "access_scope_work_group";
}

/* Each false: so that a check can return it. */

static bool breaks_scope(struct examined *l, const struct touch *other)
{
    struct assertion_check *w = l->w;
    char who[340], first[340], what[64];
    snprintf(w->broken, sizeof w->broken, "%s on buffer %.40s does not hold: %s %s %s, which is for %s, too: it %s it",
             property_of(l->arg), l->buffer->name, touch_text(w, &l->now, who, sizeof who), verb(&l->now),
             element(l, what, sizeof what), touch_text(w, other, first, sizeof first), verb(other));
    w->is_broken = true;
    return false;
}

static bool breaks_order(struct examined *l, const struct touch *other)
{
    struct assertion_check *w = l->w;
    char who[340], first[340], what[64];
    snprintf(w->broken, sizeof w->broken,
             "%.40s and %.40s race as one kernel: %s %s %s of %s %.40s, which %s %s before, and nothing orders "
             "the two",
             w->runs[other->run - 1].name, w->runs[l->now.run - 1].name, touch_text(w, &l->now, who, sizeof who),
             verb(&l->now), element(l, what, sizeof what), l->buffer->what, l->buffer->name,
             touch_text(w, other, first, sizeof first), verb(other));
    w->is_broken = true;
    return false;
}

static bool breaks_init(struct examined *l)
{
    struct assertion_check *w = l->w;
    char who[340], what[64];
    snprintf(w->broken, sizeof w->broken,
             "%s on buffer %.40s does not hold: %s reads %s, which nothing has written before",
             l->arg->no_init ? "no_init" : "fusion_internal_memory", l->buffer->name,
             touch_text(w, &l->now, who, sizeof who), element(l, what, sizeof what));
    w->is_broken = true;
    return false;
}

/* ---- checks ---- */

static bool in_launch(const struct examined *l, const struct touch *t)
{
    return t->run && l->w->runs[t->run - 1].launch == l->w->kernel->launch;
}

/* What the two make of the byte is the same in either order. */
static bool may_meet(const struct touch *a, const struct touch *b)
{
    return a->op == b->op && ir_op_info(a->op)->flags & IR_FLAG_COMMUTES;
}

/* One between kernels stands between the two. */
static bool is_behind_barrier(const struct examined *l, const struct touch *t)
{
    const struct run *runs = l->w->runs;
    return runs[t->run - 1].barriers != runs[l->now.run - 1].barriers;
}

static bool is_ordered(const struct examined *l, const struct touch *t)
{
    if (!in_launch(l, t) || t->run == l->now.run || t->item == l->now.item || may_meet(t, &l->now)) return true;
    return (is_behind_barrier(l, t) || l->access->after_barrier) &&
           same_group(&l->w->kernel->launched, t->item, l->now.item);
}

static bool is_owned(const struct examined *l, const struct touch *t)
{
    if (!in_launch(l, t) || t->item == l->now.item) return true;
    return scope_of(l->arg) == ASSERTION_SCOPE_WORK_GROUP && same_group(&l->w->kernel->launched, t->item, l->now.item);
}

static bool check_scope(struct examined *l, struct cell *cell)
{
    if (scope_of(l->arg) == ASSERTION_SCOPE_ANY) return true;
    struct touch *owner = &cell->owner[scope_of(l->arg) == ASSERTION_SCOPE_WORK_ITEM];
    if (!is_owned(l, owner)) return breaks_scope(l, owner);
    if (!in_launch(l, owner)) *owner = l->now;
    return true;
}

static void note_read(struct examined *l, struct cell *cell)
{
    struct touch *r = cell->readers;
    const struct nd_range *launched = &l->w->kernel->launched;
    for (unsigned i = 0; i < 2; i++) /* what a barrier orders with what follows makes room for what it does not */
        if (in_launch(l, &r[i]) && is_behind_barrier(l, &r[i]) && same_group(launched, r[i].item, l->now.item)) {
            r[i] = l->now;
            if (r[0].item == r[1].item) r[1].run = 0;
            return;
        }
    if (!in_launch(l, &r[0])) {
        r[0] = l->now;
        r[1].run = 0;
    } else if (r[0].item != l->now.item && (!r[1].run || (same_group(launched, r[0].item, r[1].item) &&
                                                          !same_group(launched, r[0].item, l->now.item)))) {
        r[1] = l->now;
    }
}

static bool check_order(struct examined *l, struct cell *cell)
{
    if (!is_ordered(l, &cell->writer)) return breaks_order(l, &cell->writer);
    if (!l->access->writes) {
        note_read(l, cell);
        return true;
    }
    for (unsigned i = 0; i < 2; i++)
        if (!is_ordered(l, &cell->readers[i])) return breaks_order(l, &cell->readers[i]);
    cell->writer = l->now;
    cell->readers[0].run = cell->readers[1].run = 0;
    return true;
}

static bool check_byte(struct examined *l)
{
    struct cell *cell = &l->buffer->cells[l->byte];
    if (!check_scope(l, cell) || !check_order(l, cell)) return false;
    if ((l->arg->no_init || l->arg->kept) && l->access->reads && !cell->written) return breaks_init(l);
    if (l->access->writes) cell->written = true;
    return true;
}

static bool check_access(void *data, const struct interp_access *a)
{
    struct assertion_check *w = data;
    const struct assertion_kernel *k = w->kernel;
    const struct assertion_arg *arg = &k->args[a->param];
    if (!arg->is_checked) return true;
    const struct run *r = &w->runs[w->n_runs - 1];
    struct examined l = {.w = w, .access = a, .arg = arg, .buffer = &w->buffers[arg->buffer]};
    l.now = (struct touch){.run = w->n_runs,
                           .item = (uint32_t)linear_id(k->linear ? &r->range : &k->launched, a->item),
                           .line = a->line,
                           .op = a->op,
                           .writes = a->writes};
    l.byte = arg->offset + a->offset;
    if (l.byte > l.buffer->bytes || a->size > l.buffer->bytes - l.byte || !cells_of(l.buffer)) return true;
    for (uint64_t i = 0; i < a->size; i++, l.byte++)
        if (!check_byte(&l)) return false;
    return true;
}

int assertion_check_run(struct assertion_check *w, const struct assertion_kernel *kernel,
                        const struct ir_function *function, const struct nd_range *range, const struct interp_arg *args,
                        const struct interp_options *options, struct interp_result *result)
{
    struct interp_observer observer = {w, check_access};
    struct interp_options watched = options ? *options : (struct interp_options){0};
    watched.observer = &observer;
    const struct run *before = w->n_runs ? &w->runs[w->n_runs - 1] : NULL;
    uint32_t barriers = kernel->barrier + (before && before->launch == kernel->launch ? before->barriers : 0);
    w->runs = arena_realloc(w->runs, (w->n_runs + 1) * sizeof *w->runs);
    w->runs[w->n_runs++] = (struct run){.name = copied(w, kernel->name),
                                        .launch = kernel->launch,
                                        .barriers = barriers,
                                        .linear = kernel->linear,
                                        .range = *range,
                                        .launched = kernel->launched};
    w->kernel = kernel;
    int rc = interp_run(function, range, args, &watched, result);
    w->kernel = NULL;
    return rc;
}
