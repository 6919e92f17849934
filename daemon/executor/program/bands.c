/* Reading which launches run band by band, which slots may have ring memory then. */
#include "daemon/executor/program/bands.h"

#include "daemon/executor/program/conditions.h"
#include "ir/base/arena.h"
#include "proto/fields.h"
#include "proto/include/fusiond/status.h"

/* Always false. */
static bool bad(struct error *e, const char *what)
{
    error_set(e, FUSION_INTERNAL, NULL, "bands: %s", what);
    return false;
}

static bool number_at(const msgpack_object_array *a, uint32_t i, uint64_t *number)
{
    if (i >= a->size || a->ptr[i].type != MSGPACK_OBJECT_POSITIVE_INTEGER) return false;
    *number = a->ptr[i].via.u64;
    return true;
}

static const struct program_launch *launch_at(const struct program *p, const struct program_bands *b, uint32_t i)
{
    return &p->launches[p->steps[b->first_step + i].launch];
}

/* They follow each other behind those of the bands before, and no pipes make them wait. */
static bool check_steps(const struct program *p, const struct program_bands *b)
{
    const struct program_bands *before = p->n_bands ? &p->bands[p->n_bands - 1] : NULL;
    if (b->first_step > p->n_steps || b->n_steps > p->n_steps - b->first_step || !b->n_steps) return false;
    if (before && b->first_step < before->first_step + before->n_steps) return false;
    for (uint32_t i = 0; i < b->n_steps; i++) {
        const struct program_step *s = &p->steps[b->first_step + i];
        if (s->kind != PROGRAM_STEP_LAUNCH || s->together || p->launches[s->launch].waits) return false;
    }
    return true;
}

/* No work-group runs twice, and each has run in the end. There are as many bands as may be in work, at least. */
static bool read_ends(const msgpack_object_array *a, const struct program *p, struct program_bands *b)
{
    if (!a->size || a->size % b->n_steps) return false;
    b->n_bands = a->size / b->n_steps;
    if (!b->at_once || b->at_once > b->n_bands) return false;
    b->ends = arena_alloc(p->arena, a->size * sizeof *b->ends);
    for (uint32_t i = 0; i < a->size; i++) {
        uint64_t before = i < b->n_steps ? 0 : b->ends[i - b->n_steps], all = launch_at(p, b, i % b->n_steps)->n_groups;
        if (!number_at(a, i, &b->ends[i]) || b->ends[i] < before || b->ends[i] > all) return false;
        if (i >= a->size - b->n_steps && b->ends[i] != all) return false;
    }
    return true;
}

static const msgpack_object_array *list_in(const msgpack_object *map, const char *key)
{
    const msgpack_object *o = proto_get(map, key);
    return o && o->type == MSGPACK_OBJECT_ARRAY ? &o->via.array : NULL;
}

static bool read_bands(const msgpack_object *o, const struct program *p, struct program_bands *b, struct error *e)
{
    uint64_t first, n, at_once;
    if (o->type != MSGPACK_OBJECT_MAP || !proto_get_uint(o, "first", &first) || !proto_get_uint(o, "steps", &n) ||
        !proto_get_uint(o, "at_once", &at_once) || first > UINT32_MAX || n > UINT32_MAX || at_once > UINT32_MAX ||
        !list_in(o, "ends") || !list_in(o, "conditions"))
        return bad(e, "keys are missing");
    *b = (struct program_bands){.first_step = (uint32_t)first, .n_steps = (uint32_t)n, .at_once = (uint32_t)at_once};
    if (!check_steps(p, b)) return bad(e, "the steps are not launches that follow each other");
    if (!read_ends(list_in(o, "ends"), p, b))
        return bad(e, "work-groups run twice, or never, or more bands are in work than there are");
    return conditions_read_list(list_in(o, "conditions"), p, &b->conditions, &b->n_conditions, e);
}

static bool has_rings(const struct program *p)
{
    for (uint32_t i = 0; i < p->n_slots; i++)
        if (p->slots[i].ring) return true;
    return false;
}

static bool uses(const struct program_launch *l, uint32_t slot)
{
    for (uint32_t i = 0; i < l->n_params; i++)
        if (l->params[i].kind == PROGRAM_PARAM_SLOT && l->params[i].index == slot) return true;
    return false;
}

/* What another launch of the band uses is not to be written past the caches. */
static bool is_shared(const struct program *p, const struct program_bands *b, uint32_t launch, uint32_t slot)
{
    for (uint32_t i = 0; i < b->n_steps; i++)
        if (i != launch && uses(launch_at(p, b, i), slot)) return true;
    return false;
}

static void keep_in_caches(struct program *p, const struct program_bands *b)
{
    for (uint32_t i = 0; i < b->n_steps; i++) {
        struct program_launch *l = &p->launches[p->steps[b->first_step + i].launch];
        for (uint32_t k = 0; k < l->n_params; k++)
            if (l->params[k].kind == PROGRAM_PARAM_SLOT && l->params[k].writes &&
                is_shared(p, b, i, l->params[k].index))
                l->written_bytes = 0;
    }
}

bool bands_read(const msgpack_object *map, struct program *p, struct error *e)
{
    const msgpack_object_array *bands = list_in(map, "bands");
    if (!bands && !has_rings(p)) return true;
    if (!bands || p->device->run_launches || p->debug) return bad(e, "the device does not run them");
    p->bands = arena_alloc(p->arena, (bands->size + 1) * sizeof *p->bands);
    for (; p->n_bands < bands->size; p->n_bands++) {
        if (!read_bands(&bands->ptr[p->n_bands], p, &p->bands[p->n_bands], e)) return false;
        keep_in_caches(p, &p->bands[p->n_bands]);
    }
    return true;
}
