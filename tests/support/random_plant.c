/* Races and false assertions, planted in random graphs. */
#include "tests/support/random_plant.h"

#include <string.h>

#include "tests/support/rng.h"

static const char *const sayings[PLANT_KINDS] = {
    [PLANT_READ_AFTER_WRITE] = "race as one kernel",           [PLANT_WRITE_AFTER_READ] = "race as one kernel",
    [PLANT_WRITE_AFTER_WRITE] = "race as one kernel",          [PLANT_ITEM_SCOPE] = "access_scope_work_item on buffer",
    [PLANT_GROUP_SCOPE] = "access_scope_work_group on buffer", [PLANT_NO_INIT] = "no_init on buffer",
};

/* One element more than there are work-items: nobody's. */
static uint32_t add_buffer(struct test_graph *g, const char *name, struct fuser_props props)
{
    return test_buffer(g, name, IR_I32, PLANT_ITEMS + 1, props);
}

static struct fuser_props props_of(enum plant_kind kind, struct rng *rng)
{
    struct fuser_props props = {0};
    if (kind == PLANT_ITEM_SCOPE) props.access_scope = FUSER_SCOPE_WORK_ITEM;
    if (kind == PLANT_GROUP_SCOPE) props.access_scope = FUSER_SCOPE_WORK_GROUP;
    if (kind == PLANT_NO_INIT) props.no_init = true;
    props.internal_memory = rng_chance(rng, 50);
    return props;
}

/* Different ones, of different work-groups where that counts. */
static void choose_items(struct plant *p, struct rng *rng)
{
    p->items[0] = rng_below(rng, PLANT_ITEMS);
    p->items[1] = (p->items[0] + 1 + rng_below(rng, PLANT_ITEMS - 1)) % PLANT_ITEMS;
    if (p->kind == PLANT_GROUP_SCOPE && p->items[0] / PLANT_GROUP == p->items[1] / PLANT_GROUP)
        p->items[1] = (p->items[1] + PLANT_GROUP) % PLANT_ITEMS;
}

struct plant random_plant(struct test_graph *g, enum plant_kind kind, uint64_t seed)
{
    struct rng rng = {seed ^ 0x706c616e74};
    struct plant p = {.kind = kind, .says = sayings[kind]};
    p.buffer = add_buffer(g, "planted", props_of(kind, &rng));
    p.index = add_buffer(g, "index", (struct fuser_props){0});
    uint32_t from = add_buffer(g, "from", (struct fuser_props){0}), to = add_buffer(g, "to", (struct fuser_props){0});
    struct fuser_arg planted = test_arg_buffer(p.buffer);
    struct fuser_arg put[3] = {planted, test_arg_buffer(from), test_arg_buffer(p.index)};
    struct fuser_arg take[3] = {test_arg_buffer(to), planted, test_arg_buffer(p.index)};
    struct nd_range range = test_range(PLANT_ITEMS, kind == PLANT_GROUP_SCOPE ? PLANT_GROUP : 0);
    uint32_t value = test_value(g, 4);
    struct fuser_arg plain_write[3] = {planted, test_arg_buffer(from), test_arg_value(value)};
    struct fuser_arg plain_read[3] = {test_arg_buffer(to), planted, test_arg_value(value)};
    switch (kind) {
    case PLANT_WRITE_AFTER_READ:
        p.first = test_kernel(g, "plant1", "take", range, take, 3);
        p.second = test_kernel(g, "plant2", "scale", range, plain_write, 3);
        break;
    case PLANT_WRITE_AFTER_WRITE:
        p.first = test_kernel(g, "plant1", "scale", range, plain_write, 3);
        p.second = test_kernel(g, "plant2", "put", range, put, 3);
        break;
    case PLANT_NO_INIT:
        p.first = test_kernel(g, "plant1", "put", range, put, 3);
        p.second = test_kernel(g, "plant2", "scale", range, plain_read, 3);
        break;
    default:
        p.first = test_kernel(g, "plant1", "scale", range, plain_write, 3);
        p.second = test_kernel(g, "plant2", "take", range, take, 3);
    }
    choose_items(&p, &rng);
    g->options.insert_barriers = kind == PLANT_GROUP_SCOPE;
    return p;
}

void random_plant_fill(const struct plant *p, const struct graph_memory *m, bool wrong)
{
    uint32_t *index = (uint32_t *)m->buffers[p->index];
    for (uint32_t i = 0; i < PLANT_ITEMS; i++) index[i] = i;
    if (!wrong) return;
    /* No kernel may race by itself: two elements change places, or one goes where nobody else is. */
    index[p->items[0]] = p->kind == PLANT_NO_INIT ? PLANT_ITEMS : p->items[1];
    if (p->kind != PLANT_NO_INIT) index[p->items[1]] = p->items[0];
}
