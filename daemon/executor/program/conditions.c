/* Conditions of launches: read, checked, and looked at when a submission runs. */
#include "daemon/executor/program/conditions.h"

#include <string.h>

#include "ir/base/arena.h"
#include "proto/fields.h"
#include "proto/include/fusiond/status.h"

/* Always false. */
static bool bad(struct error *e, const char *what)
{
    error_set(e, FUSION_INTERNAL, NULL, "conditions: %s", what);
    return false;
}

static bool number_at(const msgpack_object_array *a, uint32_t i, uint64_t *number)
{
    if (a->ptr[i].type != MSGPACK_OBJECT_POSITIVE_INTEGER) return false;
    *number = a->ptr[i].via.u64;
    return true;
}

/* One number is a pipe, three or four are values. */
static bool read_condition(const msgpack_object *o, const struct program *p, struct program_condition *c)
{
    uint64_t value, like;
    if (o->type == MSGPACK_OBJECT_ARRAY && o->via.array.size == 1) {
        c->is_pipe = number_at(&o->via.array, 0, &value) && value < p->n_states && p->states[value].capacity;
        c->value = c->is_pipe ? (uint32_t)value : 0;
        return c->is_pipe;
    }
    uint32_t n = o->type == MSGPACK_OBJECT_ARRAY ? o->via.array.size : 0;
    if ((n != 3 && n != 4) || !number_at(&o->via.array, 0, &value) || !number_at(&o->via.array, 1, &like) ||
        !number_at(&o->via.array, 2, &c->number))
        return false;
    if (value >= p->n_values || like >= p->n_values || p->value_sizes[value] != p->value_sizes[like]) return false;
    c->value = (uint32_t)value;
    c->like = (uint32_t)like;
    c->at_least = n == 4;
    if (n == 4 &&
        (value != like || o->via.array.ptr[3].type != MSGPACK_OBJECT_BOOLEAN || !o->via.array.ptr[3].via.boolean))
        return false;
    return value != like || p->value_sizes[value] == 4 || p->value_sizes[value] == 8;
}

bool conditions_read_list(const msgpack_object_array *list, const struct program *p,
                          struct program_condition **conditions, uint32_t *n, struct error *e)
{
    *conditions = arena_alloc(p->arena, (list->size + 1) * sizeof **conditions);
    for (*n = 0; *n < list->size; ++*n)
        if (!read_condition(&list->ptr[*n], p, &(*conditions)[*n]))
            return bad(e, "one is neither a pipe nor two values, a number, and whether more will do");
    return true;
}

bool conditions_read(const msgpack_object *map, const struct program *p, struct program_launch *l, struct error *e)
{
    uint64_t first, n;
    const msgpack_object *list = proto_get(map, "conditions");
    if (!list) return true;
    if (list->type != MSGPACK_OBJECT_ARRAY || !proto_get_uint(map, "spares", &first) ||
        !proto_get_uint(map, "n_spares", &n))
        return bad(e, "keys are missing");
    if (first > p->n_launches || n > p->n_launches - first) return bad(e, "there are no such spares");
    l->first_spare = (uint32_t)first;
    l->n_spares = (uint32_t)n;
    return conditions_read_list(&list->via.array, p, &l->conditions, &l->n_conditions, e);
}

static bool takes_spare_slot(const struct program *p, const struct program_launch *l)
{
    for (uint32_t i = 0; i < l->n_params; i++)
        if (l->params[i].kind == PROGRAM_PARAM_SLOT && p->slots[l->params[i].index].spare) return true;
    return false;
}

bool conditions_check(struct program *p, struct error *e)
{
    for (uint32_t i = 0; i < p->n_launches; i++)
        for (uint32_t k = 0; k < p->launches[i].n_spares; k++)
            p->launches[p->launches[i].first_spare + k].is_spare = true;
    for (uint32_t i = 0; i < p->n_launches; i++) {
        const struct program_launch *l = &p->launches[i];
        if (l->is_spare ? l->n_conditions != 0 : takes_spare_slot(p, l)) return bad(e, "a launch is both or neither");
    }
    return true;
}

/* A value of 4 or 8 bytes. */
static int64_t signed_number(const uint8_t *value, uint32_t size)
{
    int32_t narrow = 0;
    int64_t wide = 0;
    memcpy(&narrow, value, sizeof narrow);
    if (size == sizeof wide) memcpy(&wide, value, sizeof wide);
    return size == sizeof wide ? wide : narrow;
}

bool conditions_hold(const struct program *p, const struct program_condition *conditions, uint32_t n,
                     const uint8_t *const *values)
{
    for (uint32_t i = 0; i < n; i++) {
        const struct program_condition *c = &conditions[i];
        if (c->is_pipe) continue;
        if (c->at_least) {
            if (signed_number(values[c->value], p->value_sizes[c->value]) < (int64_t)c->number) return false;
            continue;
        }
        const void *wanted = c->like == c->value ? (const void *)&c->number : values[c->like];
        if (memcmp(values[c->value], wanted, p->value_sizes[c->value]) != 0) return false;
    }
    return true;
}
