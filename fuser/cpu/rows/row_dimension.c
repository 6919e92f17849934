/*
 * Along which dimension rows of work-items run. Lanes are neighbours in x. In work-groups that are one work-item wide
 * there would be one lane; and where neighbours in y or z are neighbours in memory, as in `a[x * n + y]`, and those in
 * x are not, each lane would have its access. So there x and that dimension change places, in the kernel's ids and
 * sizes here and in those of the launch when it starts. Where that changes the order of work-items in a group, no
 * operation of the kernel may tell.
 */
#include "fuser/cpu/rows/row_dimension.h"

#include "fuser/cpu/prepare/group_operation.h"
#include "fuser/cpu/prepare/uniformity.h"
#include "fuser/cpu/rows/linear_ids.h"
#include "fuser/passes/util.h"
#include "ir/core/facts.h"

struct exchange {
    unsigned with;
    bool prevented;
    bool in_order;  /* work-items of a group stay in order */
    bool any_group; /* nothing is known of the work-groups, so that rows must run on from one to the next */
    bool helps;     /* the kernel asks for ids in the dimension */
};

/* What tells work-items apart by more than ids and sizes. */
static void see_obstacle(struct ir_inst *inst, void *data)
{
    struct exchange *x = data;
    bool work_group = ir_is_work_group_collective(inst) && inst->op != IR_OP_BARRIER;
    if (is_sub_group_operation(inst) || ir_op_class(inst->op) == IR_CLASS_PRINT) x->prevented = true;
    if (work_group && (inst->op == IR_OP_GROUP_BROADCAST || !x->in_order)) x->prevented = true;
    switch (inst->op) {
    case IR_OP_GLOBAL_ID: x->helps = x->helps || inst->attrs.dim == x->with; break;
    case IR_OP_LOCAL_ID: x->helps = x->helps || inst->attrs.dim == x->with; /* fallthrough */
    case IR_OP_LOCAL_LINEAR_ID:
    case IR_OP_LOCAL_SIZE:
    case IR_OP_GROUP_ID: x->prevented = x->prevented || x->any_group; break;
    default: break;
    }
}

/* In which the order of dimensions counts. */
static void take_apart(struct ir_inst *inst, void *data)
{
    const struct exchange *x = data;
    linear_id_take_apart(inst, !x->in_order);
}

static bool has_dimension(enum ir_op op)
{
    switch (op) {
    case IR_OP_GLOBAL_ID:
    case IR_OP_LOCAL_ID:
    case IR_OP_GROUP_ID:
    case IR_OP_GLOBAL_SIZE:
    case IR_OP_LOCAL_SIZE:
    case IR_OP_ENQUEUED_LOCAL_SIZE:
    case IR_OP_NUM_GROUPS:
    case IR_OP_GLOBAL_OFFSET: return true;
    default: return false;
    }
}

static void exchange_dimension(struct ir_inst *inst, void *data)
{
    const struct exchange *x = data;
    if (!has_dimension(inst->op)) return;
    if (inst->attrs.dim == 0)
        inst->attrs.dim = (uint8_t)x->with;
    else if (inst->attrs.dim == x->with)
        inst->attrs.dim = 0;
}

/* ---- what accesses cost ---- */

struct cost {
    const struct uniformity *u;
    struct ir_module *module;
    uint64_t sum;
};

enum { DEEPEST = 3, ROUNDS = 8 };                /* what is in loops counts for more */
enum { NEAR = 64, COST_NEAR = 2, COST_FAR = 8 }; /* neighbours of so many bytes share a cache line */

static void see_access(struct ir_inst *inst, void *data)
{
    struct cost *c = data;
    if (inst->op != IR_OP_LOAD && inst->op != IR_OP_STORE) return;
    const struct ir_value *p = inst->operands[0];
    struct shape s = {SHAPE_UNIFORM, 0, false};
    if (p->kind != IR_VALUE_CONST && p->kind != IR_VALUE_UNDEF) s = c->u->values[p->scratch];
    bool near = s.kind == SHAPE_LINEAR && s.stride <= NEAR && s.stride >= -NEAR;
    bool best = s.kind == SHAPE_UNIFORM || (near && s.stride == (int64_t)ir_type_size(c->module, inst->type));
    uint64_t cost = best ? 1 : near ? COST_NEAR : COST_FAR;
    const struct ir_inst *loop = inst;
    for (unsigned depth = 0; depth < DEEPEST && (loop = ir_enclosing_loop(loop)); depth++) cost *= ROUNDS;
    c->sum += cost;
}

static uint64_t cost_of(struct ir_function *kernel)
{
    struct uniformity u;
    struct arena *arena = arena_new();
    uniformity_find(&u, arena, kernel, TOGETHER_ROW);
    struct cost c = {.u = &u, .module = kernel->module};
    ir_walk(kernel->body, see_access, &c);
    arena_free(arena);
    return c.sum;
}

/* ---- the choice ---- */

/* Whether rows along the dimension are long: as long as those in x, or as a vector. */
static bool is_long(const struct ir_function *kernel, unsigned dim)
{
    static const uint32_t assumed[3] = {0, IR_ASSUME_LONG_Y, IR_ASSUME_LONG_Z};
    enum { LONG = 16 };
    const uint32_t *size = kernel->work_group_size;
    return size[0] ? size[dim] >= LONG || size[dim] >= size[0] : kernel->assumes & assumed[dim];
}

static bool is_possible(const struct ir_function *kernel, struct exchange *x)
{
    const uint32_t *size = kernel->work_group_size;
    x->in_order = size[0] == 1 && (x->with == 1 || size[1] == 1);
    x->any_group = !size[0];
    if (x->any_group && uses_work_group_operations(kernel)) return false;
    ir_walk(kernel->body, see_obstacle, x);
    return !x->prevented;
}

/* Whether accesses cost half at most if the dimension changes places with x. */
static bool pays(struct ir_function *kernel, struct exchange *x, uint64_t *least)
{
    if (!is_long(kernel, x->with) || !is_possible(kernel, x) || !x->helps) return false;
    if (!*least) *least = cost_of(kernel);
    ir_walk(kernel->body, exchange_dimension, x);
    uint64_t cost = cost_of(kernel);
    ir_walk(kernel->body, exchange_dimension, x);
    if (2 * cost > *least) return false;
    *least = cost;
    return true;
}

/* One work-item wide: the next dimension that is longer. */
static unsigned only_choice(struct ir_function *kernel)
{
    const uint32_t *size = kernel->work_group_size;
    struct exchange x = {.with = size[1] > 1 ? 1 : 2};
    bool waits = size[x.with] > 1 && uses_work_group_operations(kernel);
    return waits && is_possible(kernel, &x) ? x.with : 0;
}

static unsigned best_choice(struct ir_function *kernel)
{
    unsigned best = 0;
    uint64_t least = 0;
    for (unsigned dim = 1; dim < 3; dim++) {
        struct exchange x = {.with = dim};
        if (pays(kernel, &x, &least)) best = dim;
    }
    return best;
}

static unsigned choose(struct ir_function *kernel)
{
    return kernel->work_group_size[0] == 1 ? only_choice(kernel) : best_choice(kernel);
}

unsigned row_dimension_find(const struct ir_function *kernel)
{
    struct ir_module *module = ir_module_new("kernel");
    unsigned with = choose(ir_function_copy(module, kernel, kernel->name));
    ir_module_free(module);
    return with;
}

unsigned row_dimension_choose(struct ir_function *kernel)
{
    uint32_t *size = kernel->work_group_size, first = size[0];
    unsigned with = choose(kernel);
    if (!with) return 0;
    struct exchange x = {.with = with, .in_order = size[0] == 1 && (with == 1 || size[1] == 1)};
    ir_walk(kernel->body, take_apart, &x);
    ir_walk(kernel->body, exchange_dimension, &x);
    size[0] = size[with];
    size[with] = first;
    return with;
}
