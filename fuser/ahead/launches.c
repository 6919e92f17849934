/* Kernels as they are launched. */
#include "fuser/ahead/launches.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fuser/plan/plan.h"
#include "ir/base/arena.h"
#include "ir/msgpack/codec.h"

/* Not large enough to be told apart from other sizes, and long in each dimension. */
enum { BUFFER_BYTES = 1 << 26, LOCAL_BYTES = 1 << 12, ITEMS_X = 1 << 20, ITEMS_XY = 1024, ITEMS_XYZ = 128 };

/* ---- a graph of the kernel alone ---- */

static void add_buffer(struct arena *a, struct fuser_graph *g, struct fuser_arg *arg, const struct ir_function *k,
                       uint32_t i)
{
    char *name = arena_alloc(a, 16);
    snprintf(name, 16, "b%u", i);
    ir_type type = k->params[i].value->type;
    bool image = ir_type_kind(type) == IR_KIND_IMAGE;
    *arg = (struct fuser_arg){.kind = FUSER_ARG_BUFFER, .index = g->n_buffers};
    g->buffers[g->n_buffers] = (struct fuser_buffer){
        .name = name, .bytes = BUFFER_BYTES, .image = image, .form = image ? ir_type_image_form(type) : IR_IMAGE_2D};
    g->n_buffers++;
}

static void add_value(struct fuser_graph *g, struct fuser_arg *arg, const struct ir_function *k, uint32_t i)
{
    const struct ir_param *p = &k->params[i];
    uint64_t size = ir_type_size(k->module, p->by_value ? p->elem : p->value->type);
    *arg = (struct fuser_arg){.kind = FUSER_ARG_VALUE, .index = g->n_values};
    g->values[g->n_values++] = (struct fuser_value){.size = (uint32_t)size};
}

static void add_argument(struct arena *a, struct fuser_graph *g, struct fuser_arg *arg, const struct ir_function *k,
                         uint32_t i)
{
    const struct ir_param *p = &k->params[i];
    bool pointer = ir_type_is_ptr(p->value->type) && !p->by_value;
    if (pointer && ir_type_space(p->value->type) == IR_SPACE_LOCAL)
        *arg = (struct fuser_arg){.kind = FUSER_ARG_LOCAL, .bytes = LOCAL_BYTES};
    else if (pointer || ir_type_kind(p->value->type) == IR_KIND_IMAGE)
        add_buffer(a, g, arg, k, i);
    else
        add_value(g, arg, k, i);
}

static void see_dimension(struct ir_inst *inst, void *data)
{
    unsigned *dims = data;
    bool asks = inst->op == IR_OP_GLOBAL_ID || inst->op == IR_OP_GROUP_ID || inst->op == IR_OP_LOCAL_ID;
    if (asks && inst->attrs.dim >= *dims) *dims = inst->attrs.dim + 1u;
}

/* In as many dimensions as the kernel asks for, or its work-groups have. */
static struct nd_range range_of(const struct ir_function *k, const struct ahead_local_size *local)
{
    static const uint64_t sides[] = {1, ITEMS_X, ITEMS_XY, ITEMS_XYZ};
    struct nd_range r = {.global = {1, 1, 1}};
    unsigned dims = 1;
    for (uint32_t i = 0; i < k->module->n_functions; i++)
        if (k->module->functions[i]->body) ir_walk(k->module->functions[i]->body, see_dimension, &dims);
    for (unsigned d = 1; d < 3; d++)
        if (k->work_group_size[d] > 1 || local->size[d] > 1) dims = dims > d ? dims : d + 1;
    r.dims = dims;
    for (unsigned d = 0; d < dims; d++) {
        uint64_t side = k->work_group_size[0] ? k->work_group_size[d] : local->size[d];
        r.global[d] = side ? (sides[dims] + side - 1) / side * side : sides[dims];
    }
    for (unsigned d = 0; d < 3 && !k->work_group_size[0]; d++) r.local[d] = local->size[d];
    return r;
}

static struct fuser_graph *graph_of(struct arena *a, const struct ir_function *k, const struct ahead_local_size *local)
{
    struct fuser_graph *g = arena_alloc(a, sizeof *g);
    g->buffers = arena_alloc(a, (k->n_params + 1) * sizeof *g->buffers);
    g->values = arena_alloc(a, (k->n_params + 1) * sizeof *g->values);
    g->nodes = arena_alloc(a, sizeof *g->nodes);
    g->n_nodes = 1;
    struct fuser_node *node = g->nodes;
    *node = (struct fuser_node){.kind = FUSER_NODE_KERNEL, .name = k->name, .kernel = k, .n_args = k->n_params};
    node->range = range_of(k, local);
    node->args = arena_alloc(a, (k->n_params + 1) * sizeof *node->args);
    for (uint32_t i = 0; i < k->n_params; i++) add_argument(a, g, &node->args[i], k, i);
    return g;
}

/* ---- its launch ---- */

static void add(struct ahead_launches *l, const struct fuser_launch *launch)
{
    size_t size;
    uint8_t *bytes = ir_encode_anonymous(launch->module, &size);
    for (uint32_t i = 0; i < l->n; i++)
        if (l->items[i].size == size && memcmp(l->items[i].bytes, bytes, size) == 0) {
            free(bytes);
            return;
        }
    l->items[l->n++] = (struct ahead_launch){bytes, size};
}

static bool find_launch(struct ahead_launches *l, const struct ir_function *kernel, const struct fuser_device *device,
                        const struct ahead_local_size *local, struct error *e)
{
    struct arena *a = arena_new();
    const struct fuser_options options = {.mode = FUSER_MODE_ENABLE, .device = *device};
    struct fuser_plan *plan = fuser_plan_new(graph_of(a, kernel, local), &options, e);
    if (plan && plan->n_launches == 1) add(l, &plan->launches[0]);
    fuser_plan_free(plan);
    arena_free(a);
    return plan;
}

bool ahead_launches_find(struct ahead_launches *l, const struct ir_function *kernel, const struct fuser_device *device,
                         const struct ahead_local_size *sizes, uint32_t n_sizes, struct error *e)
{
    *l = (struct ahead_launches){0};
    error_set(e, FUSER_INVALID, kernel->name, "it would never be launched");
    for (uint32_t i = 0; i < n_sizes && l->n < AHEAD_MAX_LAUNCHES; i++) find_launch(l, kernel, device, &sizes[i], e);
    return l->n;
}

void ahead_launches_clear(struct ahead_launches *l)
{
    for (uint32_t i = 0; i < l->n; i++) free(l->items[i].bytes);
    l->n = 0;
}
