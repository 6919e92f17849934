/* Reading programs. They come from a compiler that worked on a stranger's input, so everything is checked. */
#include "daemon/executor/program/program.h"

#include <inttypes.h>
#include <msgpack.h>
#include <stdio.h>
#include <string.h>

#include "daemon/executor/program/bands.h"
#include "daemon/executor/program/conditions.h"
#include "daemon/executor/program/reader.h"
#include "fuser/assertions/assertion_check.h"
#include "fuser/cpu/abi/kernel_abi.h"
#include "ir/base/arena.h"
#include "ir/base/cursor.h"
#include "proto/fields.h"
#include "proto/image.h"
#include "proto/limits.h"

enum {
    MAX_ITEMS = 1 << 22, /* msgpack values of a program */
    MAX_VALUE_BYTES = 64 << 10,
    MAX_GROUP_ITEMS = 1 << 16,
    MAX_LOCAL_BYTES = 16 << 20,
    MAX_PROGRAM_DEPTH = 8,
};
static const uint64_t max_slot_bytes = (uint64_t)1 << 46;
static const uint64_t max_items = (uint64_t)1 << 62; /* work-items of a launch */

static bool inside(struct reader *r, uint64_t slot, uint64_t offset, uint64_t bytes)
{
    const struct program_slot *s = &r->p->slots[slot];
    if (offset <= s->bytes && bytes <= s->bytes - offset) return true;
    return reader_bad(r, "%" PRIu64 " bytes at %" PRIu64 " reach beyond slot %s (%" PRIu64 " bytes)", bytes, offset,
                      s->name, s->bytes);
}

static bool is_slot(struct reader *r, uint64_t index)
{
    if (index >= r->p->n_slots) return reader_bad(r, "there is no slot %" PRIu64, index);
    return r->p->slots[index].needed || r->p->slots[index].scratch ||
           reader_bad(r, "slot %s has no memory", r->p->slots[index].name);
}

/* A launch's alone. Which ones take spares is checked when all are there: conditions_check(). */
static bool is_launch_slot(const struct program *p, uint64_t index)
{
    return index < p->n_slots && (p->slots[index].spare || p->slots[index].ring);
}

/* ---- slots and values ---- */

static bool read_scratch(struct reader *r, const msgpack_object *o, struct program_slot *s)
{
    uint64_t elem_bytes;
    if (!r->p->debug) return true;
    if (!reader_uint(r, o, "elem_bytes", UINT32_MAX, &elem_bytes)) return false;
    s->elem_bytes = (uint32_t)elem_bytes;
    return reader_flag(r, o, "scratch", &s->scratch);
}

static bool read_spare(struct reader *r, const msgpack_object *o, struct program_slot *s)
{
    if (!proto_get(o, "spare")) return true;
    if (!reader_flag(r, o, "spare", &s->spare)) return false;
    return !(s->spare && s->needed) || reader_bad(r, "slot %s is needed and spare", s->name);
}

static bool read_ring(struct reader *r, const msgpack_object *o, struct program_slot *s)
{
    enum { PAGE = 4096, MOST_ROUNDS = 1024 };
    if (!proto_get(o, "ring")) return true;
    if (!reader_uint(r, o, "ring", max_slot_bytes, &s->ring)) return false;
    bool good = s->ring && s->ring % PAGE == 0 && s->ring <= s->bytes && s->bytes / s->ring <= MOST_ROUNDS;
    return (good && !s->needed && !s->spare) || reader_bad(r, "slot %s has no such ring", s->name);
}

static bool read_slot(struct reader *r, const msgpack_object *o, struct program_slot *s)
{
    return reader_name(r, o, "name", &s->name) && reader_uint(r, o, "bytes", max_slot_bytes, &s->bytes) &&
           reader_flag(r, o, "needed", &s->needed) && read_spare(r, o, s) && read_ring(r, o, s) &&
           read_scratch(r, o, s);
}

static bool read_slots(struct reader *r, const msgpack_object *map)
{
    const msgpack_object_array *a = reader_array(r, map, "slots");
    if (!a) return false;
    r->p->n_slots = a->size;
    r->p->slots = arena_alloc(r->p->arena, a->size * sizeof *r->p->slots);
    for (uint32_t i = 0; i < a->size; i++)
        if (!read_slot(r, &a->ptr[i], &r->p->slots[i])) return false;
    return true;
}

static bool read_values(struct reader *r, const msgpack_object *map)
{
    const msgpack_object_array *a = reader_array(r, map, "values");
    if (!a) return false;
    r->p->n_values = a->size;
    r->p->value_sizes = arena_alloc(r->p->arena, a->size * sizeof *r->p->value_sizes);
    for (uint32_t i = 0; i < a->size; i++) {
        uint64_t bytes = 0;
        if (!reader_element(r, a, i, MAX_VALUE_BYTES, &bytes)) return false;
        r->p->value_sizes[i] = (uint32_t)bytes;
    }
    return true;
}

/* ---- variables and pipes of programs ---- */

static bool read_init(struct reader *r, const msgpack_object *o, struct program_state *s)
{
    const void *bytes;
    size_t size;
    if (!proto_get_bytes(o, "init", &bytes, &size)) return true;
    if (s->packet_size || size != s->bytes)
        return reader_bad(r, "%zu initial bytes of @%s, which has %" PRIu64, size, s->name, s->bytes);
    uint8_t *copy = arena_alloc(r->p->arena, size);
    if (size) memcpy(copy, bytes, size);
    s->init = copy;
    return true;
}

static bool read_host(struct reader *r, const msgpack_object *o, uint64_t *host)
{
    *host = PROGRAM_HOST_NONE;
    return !proto_get(o, "host") || reader_uint(r, o, "host", PROGRAM_HOST_COUNT - 1, host);
}

static bool read_ends(struct reader *r, const msgpack_object *o, struct program_state *s)
{
    uint64_t ends = 0;
    if (proto_get(o, "ends") && !reader_uint(r, o, "ends", 3, &ends)) return false;
    s->takers = ends & 1;
    s->putters = ends & 2;
    return true;
}

static bool read_state(struct reader *r, const msgpack_object *o, struct program_state *s)
{
    uint64_t module, variable, packet, capacity, host;
    if (!reader_name(r, o, "name", &s->name) || !reader_uint(r, o, "module", UINT32_MAX, &module) ||
        !reader_uint(r, o, "variable", UINT32_MAX, &variable) ||
        !reader_uint(r, o, "bytes", MAX_STATE_BYTES, &s->bytes) || !reader_uint(r, o, "packet", UINT32_MAX, &packet) ||
        !reader_uint(r, o, "capacity", UINT32_MAX, &capacity) || !read_host(r, o, &host) || !read_ends(r, o, s))
        return false;
    s->module = (uint32_t)module;
    s->variable = (uint32_t)variable;
    s->packet_size = (uint32_t)packet;
    s->capacity = (uint32_t)capacity;
    s->host = (uint8_t)host;
    if (!packet != !capacity || packet * capacity > MAX_STATE_BYTES)
        return reader_bad(r, "pipe @%s of %" PRIu64 " packets of %" PRIu64 " bytes", s->name, capacity, packet);
    if (host && !packet) return reader_bad(r, "@%s is a host pipe without packets", s->name);
    if (packet && !r->p->device->pipe_bytes) return reader_bad(r, "pipe @%s on a device without pipes", s->name);
    return read_init(r, o, s);
}

static bool read_states(struct reader *r, const msgpack_object *map)
{
    if (!proto_get(map, "states")) return true;
    const msgpack_object_array *a = reader_array(r, map, "states");
    if (!a) return false;
    if (a->size > PROTO_MAX_STATES) return reader_bad(r, "%u states are more than %d", a->size, PROTO_MAX_STATES);
    r->p->n_states = a->size;
    r->p->states = arena_alloc(r->p->arena, a->size * sizeof *r->p->states);
    for (uint32_t i = 0; i < a->size; i++) {
        struct program_state *s = &r->p->states[i];
        if (!read_state(r, &a->ptr[i], s)) return false;
        for (uint32_t k = 0; k < i; k++)
            if (r->p->states[k].module == s->module && r->p->states[k].variable == s->variable)
                return reader_bad(r, "@%s is there twice", s->name);
    }
    return true;
}

/* ---- launches ---- */

static bool read_triple(struct reader *r, const msgpack_object *map, const char *key, uint64_t min, uint64_t *out)
{
    const msgpack_object_array *a = reader_array(r, map, key);
    if (!a) return false;
    if (a->size != 3) return reader_bad(r, "%s does not have 3 numbers", key);
    for (uint32_t i = 0; i < 3; i++) {
        if (!reader_element(r, a, i, max_items, &out[i])) return false;
        if (out[i] < min) return reader_bad(r, "%s has a 0", key);
    }
    return true;
}

static bool read_range(struct reader *r, const msgpack_object *map, const char *key, struct program_launch *l)
{
    struct nd_range *n = &l->range;
    const msgpack_object *range = proto_get(map, key);
    uint64_t dims;
    if (!range || range->type != MSGPACK_OBJECT_MAP) return reader_bad(r, "a launch has no range");
    if (!reader_uint(r, range, "dims", 3, &dims) || !read_triple(r, range, "global", 1, n->global) ||
        !read_triple(r, range, "offset", 0, n->offset) || !read_triple(r, range, "local", 1, n->local))
        return false;
    if (!dims) return reader_bad(r, "a range has no dimension");
    n->dims = (uint32_t)dims;
    uint64_t items = 1;
    l->n_groups = l->group_items = 1;
    for (int i = 0; i < 3; i++) {
        if (__builtin_mul_overflow(items, n->global[i], &items) || items > max_items ||
            __builtin_mul_overflow(l->group_items, n->local[i], &l->group_items))
            return reader_bad(r, "a range has too many work-items");
        l->num_groups[i] = (n->global[i] - 1) / n->local[i] + 1;
        l->n_groups *= l->num_groups[i]; /* no more than work-items */
    }
    if (l->group_items > MAX_GROUP_ITEMS)
        return reader_bad(r, "a work-group has %" PRIu64 " work-items, more than %d", l->group_items, MAX_GROUP_ITEMS);
    return true;
}

static bool read_image(struct reader *r, const msgpack_object *o, struct program_param *param)
{
    const msgpack_object *list = proto_get(o, "image");
    uint64_t n[8];
    struct error e;
    if (!is_slot(r, param->index)) return false;
    const struct program_slot *s = &r->p->slots[param->index];
    if (!list || list->type != MSGPACK_OBJECT_ARRAY || list->via.array.size != 8)
        return reader_bad(r, "image %s does not have 8 numbers", s->name);
    for (uint32_t i = 0; i < 8; i++)
        if (!reader_element(r, &list->via.array, i, i < 7 ? UINT32_MAX : max_slot_bytes, &n[i])) return false;
    struct proto_image image = {(uint32_t)n[0], (uint32_t)n[1], (uint32_t)n[2], (uint32_t)n[3],
                                (uint32_t)n[4], (uint32_t)n[5], (uint32_t)n[6], n[7]};
    if (proto_image_check(&image, &e) != 0) return reader_bad(r, "image %s: %s", s->name, e.reason);
    if (!inside(r, param->index, param->offset, proto_image_bytes(&image))) return false;
    param->image = (struct ir_image){.width = image.width,
                                     .height = image.height,
                                     .row_pitch = image.row_pitch,
                                     .channel_order = image.channel_order,
                                     .channel_type = image.channel_type,
                                     .slices = image.slices,
                                     .slice_pitch = image.slice_pitch};
    return true;
}

static bool check_param(struct reader *r, const struct program_launch *l, const struct program_param *param)
{
    const struct program *p = r->p;
    if (param->at > l->args_size || param->size > l->args_size - param->at)
        return reader_bad(r, "an argument lies outside the argument block of %u bytes", l->args_size);
    if (param->kind == PROGRAM_PARAM_VALUE) {
        if (param->index >= p->n_values) return reader_bad(r, "there is no value %u", param->index);
        if (param->size == p->value_sizes[param->index]) return true;
        return reader_bad(r, "value %u has %u bytes, its argument %u", param->index, p->value_sizes[param->index],
                          param->size);
    }
    if (param->size != 8) return reader_bad(r, "a pointer argument has %u bytes", param->size);
    if (param->kind == PROGRAM_PARAM_SLOT)
        return (is_launch_slot(p, param->index) || is_slot(r, param->index)) &&
               inside(r, param->index, param->offset, 0);
    if (param->kind == PROGRAM_PARAM_IMAGE) return true; /* see read_image() */
    if (param->kind == PROGRAM_PARAM_STATE)
        return param->index < p->n_states || reader_bad(r, "there is no state %u", param->index);
    if (param->offset <= MAX_LOCAL_BYTES) return true;
    return reader_bad(r, "%" PRIu64 " bytes of local memory are more than %d", param->offset, MAX_LOCAL_BYTES);
}

/* Of what is done there, if it is. */
static bool read_line(struct reader *r, const msgpack_object *map, const char *key, bool *done, uint32_t *line)
{
    uint64_t n;
    *done = proto_get(map, key) != NULL;
    if (!*done) return true;
    if (!reader_uint(r, map, key, UINT32_MAX, &n)) return false;
    *line = (uint32_t)n;
    return true;
}

static bool read_param(struct reader *r, const msgpack_object *o, struct program_launch *l, struct program_param *param)
{
    uint64_t kind, index, at, size;
    if (!reader_uint(r, o, "kind", PROGRAM_PARAM_COUNT - 1, &kind) || !reader_uint(r, o, "index", UINT32_MAX, &index) ||
        !reader_uint(r, o, "offset", max_slot_bytes, &param->offset) || !reader_uint(r, o, "at", UINT32_MAX, &at) ||
        !reader_uint(r, o, "size", UINT32_MAX, &size) || !reader_flag(r, o, "writes", &param->writes))
        return false;
    if (proto_get(o, "written") && !reader_uint(r, o, "written", INT64_MAX, &param->written)) return false;
    if (!read_line(r, o, "takes", &param->takes, &param->take_line) ||
        !read_line(r, o, "puts", &param->puts, &param->put_line) ||
        (proto_get(o, "polls") && !reader_flag(r, o, "polls", &param->polls)))
        return false;
    param->kind = (uint8_t)kind;
    param->index = (uint32_t)index;
    param->at = (uint32_t)at;
    param->size = (uint32_t)size;
    return check_param(r, l, param) && (param->kind != PROGRAM_PARAM_IMAGE || read_image(r, o, param));
}

/* Which launches do what is said of slots and states, too. */
static void note_use(struct program *p, struct program_launch *l, const struct program_param *param)
{
    if (param->kind == PROGRAM_PARAM_STATE) {
        struct program_state *s = &p->states[param->index];
        s->written |= param->writes;
        s->takes |= param->takes;
        s->puts |= param->puts;
        s->polls |= param->polls;
    } else if ((param->kind == PROGRAM_PARAM_SLOT || param->kind == PROGRAM_PARAM_IMAGE) && param->writes) {
        p->slots[param->index].written = true;
        uint64_t most = p->slots[param->index].bytes - param->offset;
        l->written_bytes += param->written && param->written < most ? param->written : most;
    }
}

static bool read_params(struct reader *r, const msgpack_object *map, struct program_launch *l)
{
    const msgpack_object_array *a = reader_array(r, map, "params");
    if (!a) return false;
    l->n_params = a->size;
    l->params = arena_alloc(r->p->arena, a->size * sizeof *l->params);
    for (uint32_t i = 0; i < a->size; i++) {
        struct program_param *param = &l->params[i];
        if (!read_param(r, &a->ptr[i], l, param)) return false;
        note_use(r->p, l, param);
    }
    return true;
}

static bool read_ir(struct reader *r, const msgpack_object *map, struct program_launch *l)
{
    const void *bytes;
    if (r->p->device->takes_objects) return true;
    if (!proto_get_bytes(map, "ir", &bytes, &l->ir_size)) return reader_bad(r, "a launch has no ir");
    uint8_t *copy = arena_alloc(r->p->arena, l->ir_size);
    memcpy(copy, bytes, l->ir_size);
    l->ir = copy;
    return true;
}

static bool read_assertion(struct reader *r, const msgpack_object *o, struct assertion_arg *arg)
{
    uint64_t scope, kept;
    if (!reader_uint(r, o, "scope", ASSERTION_SCOPE_WORK_ITEM, &scope) ||
        !reader_flag(r, o, "no_init", &arg->no_init) || !reader_uint(r, o, "kept", ASSERTION_SCOPE_WORK_ITEM, &kept))
        return false;
    arg->scope = (enum assertion_scope)scope;
    arg->kept = (enum assertion_scope)kept;
    return true;
}

/* Variables of the program are watched behind the slots, and nothing is asserted of them. */
static bool read_assertions(struct reader *r, const msgpack_object *map, const struct program_launch *l,
                            const struct assertion_arg **out)
{
    const msgpack_object_array *a = reader_array(r, map, "params");
    struct assertion_arg *args = arena_alloc(r->p->arena, (l->n_params + 1) * sizeof *args);
    for (uint32_t i = 0; i < l->n_params; i++) {
        const struct program_param *param = &l->params[i];
        if (param->kind == PROGRAM_PARAM_STATE)
            args[i] = (struct assertion_arg){.is_checked = true, .buffer = r->p->n_slots + param->index};
        if (param->kind != PROGRAM_PARAM_SLOT) continue;
        args[i] = (struct assertion_arg){.is_checked = true, .buffer = param->index, .offset = param->offset};
        if (!read_assertion(r, &a->ptr[i], &args[i])) return false;
    }
    *out = args;
    return true;
}

/* What the launch is a part of: the work-items of `launched`. */
static bool read_debug(struct reader *r, const msgpack_object *map, struct program_launch *l)
{
    struct program_launch whole = {0};
    const struct assertion_arg *args;
    uint64_t number;
    if (!r->p->debug) return true;
    struct assertion_kernel *k = arena_alloc(r->p->arena, sizeof *k);
    if (!reader_name(r, map, "node", &k->name) || !reader_uint(r, map, "launch", UINT32_MAX, &number) ||
        !reader_flag(r, map, "linear", &k->linear) || !reader_flag(r, map, "barrier", &k->barrier) ||
        !read_range(r, map, "launched", &whole) || !read_assertions(r, map, l, &args))
        return false;
    const struct nd_range *own = &l->range, *launched = &whole.range;
    k->launch = (uint32_t)number;
    k->args = args;
    k->launched = *launched;
    l->debug = k;
    for (unsigned d = 0; d < 3 && !k->linear; d++)
        if (own->offset[d] < launched->offset[d] ||
            own->offset[d] - launched->offset[d] + own->global[d] > launched->global[d])
            return reader_bad(r, "a kernel to debug has other work-items than its launch");
    return true;
}

static bool read_launch(struct reader *r, const msgpack_object *o, struct program_launch *l)
{
    uint64_t args_size;
    if (!reader_name(r, o, "name", &l->name) || !reader_uint(r, o, "args_size", KERNEL_MAX_ARGS_BYTES, &args_size))
        return false;
    l->args_size = (uint32_t)args_size;
    if (proto_get(o, "waits") && !reader_flag(r, o, "waits", &l->waits)) return false;
    if (proto_get(o, "together") && !reader_flag(r, o, "together", &l->together)) return false;
    if (proto_get(o, "last") && !reader_flag(r, o, "last", &l->last)) return false;
    if (proto_get(o, "anywhere") && !reader_flag(r, o, "anywhere", &l->anywhere)) return false;
    r->p->anywhere |= l->anywhere;
    return read_range(r, o, "range", l) && read_params(r, o, l) && conditions_read(o, r->p, l, r->error) &&
           read_ir(r, o, l) && read_debug(r, o, l);
}

static bool read_launches(struct reader *r, const msgpack_object *map)
{
    const msgpack_object_array *a = reader_array(r, map, "launches");
    if (!a) return false;
    r->p->n_launches = a->size;
    r->p->launches = arena_alloc(r->p->arena, a->size * sizeof *r->p->launches);
    for (uint32_t i = 0; i < a->size; i++)
        if (!read_launch(r, &a->ptr[i], &r->p->launches[i])) return reader_bad(r, "launch %u", i);
    return conditions_check(r->p, r->error);
}

/* ---- steps ---- */

static bool read_place(struct reader *r, const msgpack_object_array *a, uint32_t at, uint32_t *slot, uint64_t *offset)
{
    uint64_t index = 0;
    if (!reader_element(r, a, at, UINT32_MAX, &index) || !reader_element(r, a, at + 1, max_slot_bytes, offset) ||
        !is_slot(r, index))
        return false;
    *slot = (uint32_t)index;
    return true;
}

/* Of a rectangle or a box, from element `at` on: rows, a pitch of each side, rows of a slice, a slice pitch of each
   side. The sides: n of them. */
static bool read_rows(struct reader *r, const msgpack_object_array *a, uint32_t at, struct program_step *s,
                      uint64_t *const *pitches, uint64_t *const *slice_pitches, uint32_t n)
{
    uint64_t rows = 0, plane = 0;
    if (a->size <= at) return true;
    if (!reader_element(r, a, at, UINT32_MAX, &rows) || !reader_element(r, a, at + 1 + n, UINT32_MAX, &plane))
        return false;
    for (uint32_t i = 0; i < n; i++)
        if (!reader_element(r, a, at + 1 + i, max_slot_bytes, pitches[i]) ||
            !reader_element(r, a, at + 2 + n + i, max_slot_bytes, slice_pitches[i]))
            return false;
    s->rows = (uint32_t)rows;
    s->plane = (uint32_t)plane;
    if (plane && rows % plane) return reader_bad(r, "%" PRIu64 " rows are not whole slices of %" PRIu64, rows, plane);
    return s->bytes || !rows || reader_bad(r, "rows of no bytes");
}

static bool times(uint64_t pitch, uint64_t n, uint64_t *sum)
{
    uint64_t bytes;
    return !__builtin_mul_overflow(pitch, n, &bytes) && !__builtin_add_overflow(*sum, bytes, sum);
}

/* Pitches are no less than 0: the last row of the last slice lies farthest behind. */
static bool rows_inside(struct reader *r, const struct program_step *s, uint32_t slot, uint64_t offset, uint64_t pitch,
                        uint64_t slice_pitch)
{
    uint64_t bytes = s->bytes, plane = s->plane ? s->plane : s->rows, slices = s->plane ? s->rows / s->plane : 1;
    if (s->rows && (!times(pitch, plane - 1, &bytes) || !times(slice_pitch, slices - 1, &bytes)))
        return reader_bad(r, "%u rows, %" PRIu64 " bytes apart, are too many bytes", s->rows, pitch);
    return inside(r, slot, offset, bytes);
}

static bool read_copy(struct reader *r, const msgpack_object_array *a, struct program_step *s)
{
    if (!read_place(r, a, 1, &s->from, &s->from_offset) || !read_place(r, a, 3, &s->to, &s->to_offset) ||
        !reader_element(r, a, 5, max_slot_bytes, &s->bytes) ||
        !read_rows(r, a, 6, s, (uint64_t *const[]){&s->from_pitch, &s->to_pitch},
                   (uint64_t *const[]){&s->from_slice_pitch, &s->to_slice_pitch}, 2))
        return false;
    r->p->slots[s->to].written = true;
    return rows_inside(r, s, s->from, s->from_offset, s->from_pitch, s->from_slice_pitch) &&
           rows_inside(r, s, s->to, s->to_offset, s->to_pitch, s->to_slice_pitch);
}

static bool read_fill(struct reader *r, const msgpack_object_array *a, struct program_step *s)
{
    if (!read_place(r, a, 1, &s->to, &s->to_offset) || !reader_element(r, a, 3, max_slot_bytes, &s->bytes))
        return false;
    const msgpack_object *pattern = a->size > 4 ? &a->ptr[4] : NULL;
    if (!pattern || pattern->type != MSGPACK_OBJECT_BIN) return reader_bad(r, "a fill has no pattern");
    s->pattern_size = pattern->via.bin.size;
    if (!s->pattern_size || s->pattern_size > 16 || (s->pattern_size & (s->pattern_size - 1)) ||
        s->bytes % s->pattern_size)
        return reader_bad(r, "a pattern of %u bytes does not fill %" PRIu64 " bytes", s->pattern_size, s->bytes);
    memcpy(s->pattern, pattern->via.bin.ptr, s->pattern_size);
    r->p->slots[s->to].written = true;
    return read_rows(r, a, 5, s, (uint64_t *const[]){&s->to_pitch}, (uint64_t *const[]){&s->to_slice_pitch}, 1) &&
           rows_inside(r, s, s->to, s->to_offset, s->to_pitch, s->to_slice_pitch);
}

/* Those that run together follow each other, wait for pipes, and are not too many. */
static bool check_together(struct reader *r, const struct program_step *s)
{
    uint32_t n = 1;
    const struct program_step *first = s;
    for (; first->together && first > r->p->steps; first--, n++)
        if (!r->p->launches[first->launch].waits)
            return reader_bad(r, "a launch that does not wait runs together with others");
    if (first->together || first->kind != PROGRAM_STEP_LAUNCH || (s->together && !r->p->launches[first->launch].waits))
        return reader_bad(r, "a launch runs together with none");
    return n <= PROTO_MAX_TOGETHER || reader_bad(r, "more than %d launches run together", PROTO_MAX_TOGETHER);
}

static bool read_step(struct reader *r, const msgpack_object *o, struct program_step *s)
{
    uint64_t kind = 0, launch = 0;
    if (o->type != MSGPACK_OBJECT_ARRAY) return reader_bad(r, "a step is not a list");
    const msgpack_object_array *a = &o->via.array;
    if (!reader_element(r, a, 0, PROGRAM_STEP_COUNT - 1, &kind)) return false;
    s->kind = (uint8_t)kind;
    if (kind == PROGRAM_STEP_COPY) return read_copy(r, a, s);
    if (kind == PROGRAM_STEP_FILL) return read_fill(r, a, s);
    if (kind == PROGRAM_STEP_HOST) {
        r->p->n_parts++;
        return true;
    }
    if (!reader_element(r, a, 1, UINT32_MAX, &launch)) return false;
    if (launch >= r->p->n_launches || r->p->launches[launch].is_spare)
        return reader_bad(r, "there is no launch %" PRIu64, launch);
    s->launch = (uint32_t)launch;
    s->together = a->size > 2;
    return check_together(r, s);
}

static bool read_steps(struct reader *r, const msgpack_object *map)
{
    const msgpack_object_array *a = reader_array(r, map, "steps");
    if (!a) return false;
    r->p->n_steps = a->size;
    r->p->steps = arena_alloc(r->p->arena, a->size * sizeof *r->p->steps);
    r->p->n_parts = 1;
    for (uint32_t i = 0; i < a->size; i++)
        if (!read_step(r, &a->ptr[i], &r->p->steps[i])) return reader_bad(r, "step %u", i);
    return true;
}

static bool read_program(struct reader *r, const msgpack_object *map)
{
    const char *device = "";
    if (map->type != MSGPACK_OBJECT_MAP) return reader_bad(r, "the program is not a map");
    if (!reader_name(r, map, "device", &device)) return false;
    r->p->device = r->find_device(device);
    if (!r->p->device) return reader_bad(r, "there is no device %s", device);
    if (proto_get(map, "debug") && !reader_flag(r, map, "debug", &r->p->debug)) return false;
    if (r->p->debug && !r->p->device->debug_begin)
        return reader_bad(r, "what is to be debugged runs on device reference");
    return read_slots(r, map) && read_values(r, map) && read_states(r, map) && read_launches(r, map) &&
           read_steps(r, map) && bands_read(map, r->p, r->error);
}

struct program *program_decode(const void *bytes, size_t size, device_finder *find_device, struct error *e)
{
    error_clear(e);
    const char *malformed = cursor_check(bytes, size, MAX_PROGRAM_DEPTH, MAX_ITEMS);
    if (malformed) {
        error_set(e, FUSION_INTERNAL, NULL, "%s", malformed);
        return NULL;
    }
    struct arena *arena = arena_new();
    struct program *p = arena_alloc(arena, sizeof *p);
    p->arena = arena;
    struct reader r = {p, find_device, e};
    msgpack_unpacked unpacked;
    msgpack_unpacked_init(&unpacked);
    size_t at = 0;
    bool good = msgpack_unpack_next(&unpacked, bytes, size, &at) == MSGPACK_UNPACK_SUCCESS
                    ? read_program(&r, &unpacked.data)
                    : reader_bad(&r, "malformed msgpack");
    msgpack_unpacked_destroy(&unpacked);
    if (good) return p;
    program_free(p);
    return NULL;
}

void program_free(struct program *p)
{
    if (p) arena_free(p->arena);
}
