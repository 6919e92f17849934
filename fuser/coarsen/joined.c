#include "fuser/coarsen/joined.h"

#include "fuser/coarsen/copy.h"
#include "fuser/coarsen/survey.h"

static uint64_t bytes_of(const struct coarse *c, const struct ir_inst *access)
{
    return ir_type_size(c->kernel->module, access->type);
}

/* The element of the vector that numbers of type t are moved in: vectors as an integer of their size. */
static ir_type lane_of(const struct coarse *c, ir_type t)
{
    if (ir_type_lanes(t) == 1) return t;
    uint64_t bytes = ir_type_size(c->kernel->module, t);
    return bytes == 2 ? IR_I16 : bytes == 4 ? IR_I32 : IR_I64;
}

/* ---- what is there already ---- */

static struct ir_value *find(const struct coarse *c, const struct coarse_place *p, int64_t offset)
{
    for (uint32_t i = 0; i < c->n_loaded; i++)
        if (survey_same_base(&c->loaded[i].place, p) && c->loaded[i].place.offset == offset) return c->loaded[i].value;
    return NULL;
}

static void keep(struct coarse *c, const struct coarse_place *p, int64_t offset, struct ir_value *value)
{
    c->loaded = arena_grow(c->arena, c->loaded, c->n_loaded, sizeof *c->loaded);
    struct coarse_loaded *l = &c->loaded[c->n_loaded++];
    *l = (struct coarse_loaded){*p, value};
    l->place.offset = offset;
}

void joined_forget(struct coarse *c)
{
    c->loaded = NULL;
    c->n_loaded = 0;
}

/* ---- loads ---- */

static void load_vector(struct coarse *c, struct ir_builder *b, const struct ir_inst *load)
{
    struct coarse_place p = survey_place(c, load);
    ir_type lane = lane_of(c, load->type), type = ir_type_with_lanes(lane, c->items);
    struct ir_value *address = copy_now(c, load->operands[0], 0);
    b->loc = load->loc;
    struct ir_value *all = ir_build(b, IR_OP_LOAD, type, &address, 1)->results[0];
    for (unsigned k = 0; k < c->items; k++) {
        struct ir_value *x = ir_build2(b, IR_OP_EXTRACT, type, all, ir_const_int(b->module, IR_I32, k));
        if (lane != load->type) x = ir_build1(b, IR_OP_BITCAST, load->type, x);
        keep(c, &p, p.offset + (int64_t)(k * bytes_of(c, load)), x);
    }
}

/* Behind a load, before anything else is written: a joined one that lies beside it. Its address is known ahead. */
static const struct ir_inst *next_anchor(const struct coarse *c, const struct ir_inst *load,
                                         const struct coarse_place *p)
{
    for (const struct ir_inst *inst = load->next; inst; inst = inst->next) {
        if (inst->blocks[0] || ir_op_info(inst->op)->flags & (IR_FLAG_WRITES | IR_FLAG_TERMINATOR)) return NULL;
        if (inst->op != IR_OP_LOAD || !c->joined[inst->scratch]) continue;
        struct coarse_place other = survey_place(c, inst);
        if (survey_same_base(&other, p) && !find(c, &other, other.offset)) return inst;
    }
    return NULL;
}

static bool is_beside(const struct coarse *c, const struct ir_inst *load)
{
    const struct ir_value *p = load->operands[0];
    if (coarse_is_uniform(c, p) || c->u.values[p->scratch].kind != SHAPE_LINEAR) return false;
    return c->u.values[p->scratch].stride == (int64_t)bytes_of(c, load);
}

bool joined_load(struct coarse *c, struct ir_builder *b, const struct ir_inst *load)
{
    if (!is_beside(c, load)) return false;
    struct coarse_place p = survey_place(c, load);
    const struct ir_inst *anchor = load;
    if (!c->joined[load->scratch])
        while ((anchor = next_anchor(c, load, &p))) load_vector(c, b, anchor);
    else if (!find(c, &p, p.offset))
        load_vector(c, b, load);
    for (unsigned k = 0; k < c->items; k++) {
        int64_t offset = p.offset + (int64_t)(k * bytes_of(c, load));
        struct ir_value *there = find(c, &p, offset);
        if (!there) {
            copy_inst(c, b, load, k);
            there = copy_now(c, load->results[0], k);
            keep(c, &p, offset, there);
        }
        c->to[k][load->results[0]->scratch] = there;
    }
    return true;
}

/* ---- stores ---- */

void joined_store(struct coarse *c, struct ir_builder *b, const struct ir_inst *store)
{
    ir_type lane = lane_of(c, store->type), type = ir_type_with_lanes(lane, c->items);
    struct ir_value *lanes[COARSE_MOST], *operands[2] = {copy_now(c, store->operands[0], 0), NULL};
    b->loc = store->loc;
    for (unsigned k = 0; k < c->items; k++) {
        lanes[k] = copy_now(c, store->operands[1], k);
        if (lane != store->type) lanes[k] = ir_build1(b, IR_OP_BITCAST, lane, lanes[k]);
    }
    operands[1] = ir_build(b, IR_OP_VEC, type, lanes, c->items)->results[0];
    ir_build(b, IR_OP_STORE, type, operands, 2);
    joined_forget(c);
}
