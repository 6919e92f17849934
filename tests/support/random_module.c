/* Random valid modules: types, globals, functions; instructions from the table of operations. */
#include "tests/support/random_module.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ir/analysis/barrier_divergence.h"
#include "ir/core/pipe_properties.h"
#include "ir/features/usage.h"
#include "tests/support/generator.h"

struct maker {
    struct generator g;
    struct random_module_options options;
    uint32_t left; /* instructions still to make in this function */
    uint32_t n_names;
    struct ir_inst *loop; /* the innermost one around the block being filled */
};

static uint32_t below(struct maker *k, uint32_t n)
{
    return rng_below(&k->g.rng, n);
}

static bool chance(struct maker *k, uint32_t percent)
{
    return rng_chance(&k->g.rng, percent);
}

/* ---- names and places ---- */

/* Unique in the module, with every character that names may have. */
static const char *new_name(struct maker *k, const char *base)
{
    char name[64];
    static const char *const ends[] = {"", "_", ".x", "$", ".0"};
    snprintf(name, sizeof name, "%s%u%s", base, k->n_names++, ends[below(k, 5)]);
    return ir_strdup(k->g.m, name);
}

static struct ir_loc new_loc(struct maker *k, struct ir_loc last)
{
    uint32_t column = below(k, 2) * below(k, 90);
    if (chance(k, 60)) return (struct ir_loc){last.file, last.line + below(k, 3), column};
    if (chance(k, 30)) return (struct ir_loc){0, below(k, 2) * below(k, 100), 0};
    uint32_t file = below(k, k->g.m->n_files + 1);
    return (struct ir_loc){file, rng_chance(&k->g.rng, 5) ? UINT32_MAX : below(k, 5000), column};
}

static void maybe_name(struct maker *k, struct ir_value *v)
{
    if (chance(k, 40)) v->name = new_name(k, "v");
}

/* One that all modules know, or one of the module's own. */
static uint64_t some_aspect(struct maker *k)
{
    static const char *const own[] = {"ext_first", "ext_second", "ext_third"};
    if (chance(k, 60)) return (uint64_t)1 << below(k, IR_ASPECT_COUNT);
    int bit = ir_module_aspect(k->g.m, own[below(k, 3)]);
    return bit < 0 ? 0 : (uint64_t)1 << bit;
}

/* ---- types ---- */

static ir_type number_type(struct maker *k)
{
    ir_type t = chance(k, 10) ? IR_BOOL : gen_scalar(&k->g);
    return ir_type_with_lanes(t, gen_lanes(&k->g));
}

static ir_type memory_type(struct maker *k)
{
    struct ir_module *m = k->g.m;
    switch (below(k, 8)) {
    case 0: return IR_PTR(below(k, IR_SPACE_COUNT));
    case 1:
        if (m->n_structs) return IR_TYPE(IR_KIND_STRUCT, 1, below(k, m->n_structs));
        return number_type(k);
    case 2:
        if (m->n_arrays) return IR_TYPE(IR_KIND_ARRAY, 1, below(k, m->n_arrays));
        return number_type(k);
    default: return number_type(k);
    }
}

static void make_struct(struct maker *k)
{
    uint32_t n = below(k, 6);
    ir_type types[6];
    for (uint32_t i = 0; i < n; i++) types[i] = memory_type(k); /* before the struct is one of them */
    struct ir_struct *s = ir_struct_new(k->g.m, new_name(k, "S"), n);
    for (uint32_t i = 0; i < n; i++) {
        s->fields[i].type = types[i];
        if (chance(k, 70)) s->fields[i].name = new_name(k, "f");
    }
    ir_struct_natural_layout(k->g.m, s);
    if (chance(k, 20)) s->aspects_used = some_aspect(k);
    uint32_t kind = below(k, 4);
    if (kind == 0) { /* packed */
        uint32_t at = 0;
        for (uint32_t i = 0; i < n; at += (uint32_t)ir_type_size(k->g.m, s->fields[i++].type)) s->fields[i].offset = at;
        s->align = 1;
        s->size = at;
    } else if (kind == 1) { /* with room at its end */
        s->size += s->align * below(k, 3);
    }
}

static void make_types(struct maker *k)
{
    for (uint32_t i = below(k, 6); i; i--) {
        if (chance(k, 50)) {
            make_struct(k);
        } else {
            ir_array_type(k->g.m, memory_type(k), 1 + below(k, 9));
        }
    }
}

/* ---- globals ---- */

static void make_pipe(struct maker *k)
{
    struct ir_global *g =
        ir_global_new(k->g.m, new_name(k, "p"), IR_SPACE_GLOBAL, IR_TYPE(IR_KIND_PIPE, 1, below(k, 3)));
    g->packet = memory_type(k);
    g->capacity = 1 + below(k, 100);
    if (chance(k, 50)) g->host_access = new_name(k, "host \"");
    for (unsigned what = 0; what < IR_PIPE_PROPERTY_COUNT; what++)
        if (chance(k, 20)) ir_pipe_add_property(k->g.m, g, what, what == IR_PIPE_BITS_PER_SYMBOL ? 1 : below(k, 2));
    g->linkage = below(k, IR_LINKAGE_IMPORT + 1);
}

static void make_variable(struct maker *k)
{
    struct ir_module *m = k->g.m;
    static const enum ir_space spaces[] = {IR_SPACE_GLOBAL, IR_SPACE_CONSTANT, IR_SPACE_LOCAL};
    ir_type t = memory_type(k);
    struct ir_global *g = ir_global_new(m, new_name(k, "g"), spaces[below(k, 3)], t);
    if (chance(k, 30)) g->align = 1u << below(k, 8);
    g->linkage = below(k, IR_LINKAGE_IMPORT + 1);
    uint64_t size = ir_type_size(m, t);
    if (g->space == IR_SPACE_LOCAL || g->linkage == IR_LINKAGE_IMPORT || size > 4096 || chance(k, 40)) return;
    uint8_t *init = ir_alloc(m, size);
    for (uint64_t i = 0; i < size; i++) init[i] = (uint8_t)rng_next(&k->g.rng);
    g->init = init;
}

/* Addresses of constants, itself among them, as pointers or as numbers. */
static void make_table(struct maker *k)
{
    struct ir_module *m = k->g.m;
    uint32_t n = 1 + below(k, 5);
    ir_type t = ir_array_type(m, chance(k, 60) ? IR_PTR(IR_SPACE_CONSTANT) : IR_I64, n);
    struct ir_global *g = ir_global_new(m, new_name(k, "t"), IR_SPACE_CONSTANT, t);
    g->init = ir_alloc(m, 8 * n);
    for (uint32_t i = 0; i < n; i++) {
        const struct ir_global *target = m->globals[below(k, m->n_globals)];
        if (target->space != IR_SPACE_CONSTANT) continue;
        uint64_t most = ir_type_size(m, target->type);
        struct ir_address a = {8 * i, target, below(k, most < 1000 ? (uint32_t)most + 1 : 1000)};
        ir_global_add_address(m, g, &a);
    }
}

/* ---- values ---- */

static struct ir_inst *emit_ptr(struct maker *k, enum ir_op op, ir_type t, enum ir_space space,
                                struct ir_value *const *operands, uint32_t n)
{
    k->g.b.loc = new_loc(k, k->g.b.loc);
    if (k->left) k->left--;
    struct ir_inst *inst = ir_build_ptr(&k->g.b, op, t, space, operands, n);
    for (uint32_t i = 0; i < inst->n_results; i++) {
        maybe_name(k, inst->results[i]);
        gen_define(&k->g, inst->results[i]);
    }
    return inst;
}

/* A value of any type that values can have; NULL where none is in sight and none can be made. */
static struct ir_value *value_of(struct maker *k, ir_type t)
{
    struct ir_value *v = chance(k, 75) ? gen_find(&k->g, t) : NULL;
    if (v) return v;
    if (chance(k, 5)) return ir_undef(k->g.m, t);
    if (ir_type_is_number(t)) return gen_constant(&k->g, t);
    if (t == IR_PTR(IR_SPACE_PRIVATE) && chance(k, 80))
        return emit_ptr(k, IR_OP_VAR, memory_type(k), IR_SPACE_PRIVATE, NULL, 0)->results[0];
    if (ir_type_is_ptr(t)) {
        uint64_t null = 0;
        return ir_const(k->g.m, t, &null);
    }
    return gen_find(&k->g, t);
}

struct image_need {
    enum ir_kind kind;
    unsigned forbidden; /* access */
    enum ir_op op;
};

/* Whether the operation is there for such an image. */
static bool goes_with(enum ir_op op, enum ir_image_form form)
{
    switch (op) {
    case IR_OP_IMAGE_BLOCK_READ:
    case IR_OP_IMAGE_BLOCK_WRITE: return form == IR_IMAGE_2D;
    case IR_OP_IMAGE_HEIGHT: return form == IR_IMAGE_2D || form == IR_IMAGE_2D_ARRAY || form == IR_IMAGE_3D;
    case IR_OP_IMAGE_DEPTH: return form == IR_IMAGE_3D;
    case IR_OP_IMAGE_ARRAY_SIZE: return ir_image_is_array(form);
    default: return true;
    }
}

static bool is_usable(ir_type t, const void *data)
{
    const struct image_need *need = data;
    return ir_type_kind(t) == need->kind && ir_type_handle_access(t) != need->forbidden &&
           (need->kind != IR_KIND_IMAGE || goes_with(need->op, ir_type_image_form(t)));
}

static unsigned forbidden_access(enum ir_op op)
{
    switch (op) {
    case IR_OP_IMAGE_READ:
    case IR_OP_IMAGE_BLOCK_READ:
    case IR_OP_PIPE_READ:
    case IR_OP_PIPE_READ_WAIT:
    case IR_OP_PIPE_READ_AT:
    case IR_OP_PIPE_RESERVE_READ:
    case IR_OP_PIPE_COMMIT_READ: return IR_HANDLE_WRITE;
    case IR_OP_IMAGE_WRITE:
    case IR_OP_IMAGE_BLOCK_WRITE:
    case IR_OP_PIPE_WRITE:
    case IR_OP_PIPE_WRITE_WAIT:
    case IR_OP_PIPE_WRITE_AT:
    case IR_OP_PIPE_RESERVE_WRITE:
    case IR_OP_PIPE_COMMIT_WRITE: return IR_HANDLE_READ;
    default: return IR_HANDLE_ACCESS_COUNT;
    }
}

static struct ir_value *pointer(struct maker *k, enum ir_op op)
{
    ir_type t = IR_PTR(below(k, IR_SPACE_COUNT));
    bool writes = ir_op_info(op)->flags & IR_FLAG_WRITES;
    if (t == IR_PTR(IR_SPACE_CONSTANT) && (writes || op == IR_OP_SPACECAST)) t = IR_PTR(IR_SPACE_GLOBAL);
    return value_of(k, t);
}

/* ---- types that operations ask for beyond their rows ---- */

static bool is_atomic(enum ir_op op)
{
    return op >= IR_OP_ATOMIC_LOAD && op <= IR_OP_ATOMIC_CLEAR;
}

/* T for a letter of the table, before the operation's own rule. */
static ir_type type_of_class(struct maker *k, char letter)
{
    struct ir_module *m = k->g.m;
    unsigned lanes = gen_lanes(&k->g);
    switch (letter) {
    case 'i': return ir_type_with_lanes(gen_int(&k->g), lanes);
    case 'f': return ir_type_with_lanes(gen_float(&k->g), lanes);
    case 'a': return ir_type_with_lanes(gen_scalar(&k->g), lanes);
    case 'l': return ir_type_with_lanes(chance(k, 40) ? IR_BOOL : gen_int(&k->g), lanes);
    case 'n': return chance(k, 10) ? IR_PTR(below(k, IR_SPACE_COUNT)) : number_type(k);
    case 'v': return gen_vector_of(&k->g, chance(k, 10) ? IR_BOOL : gen_scalar(&k->g));
    case 'w': return gen_scalar(&k->g);
    case 'm': return memory_type(k);
    case 's': return m->n_structs ? IR_TYPE(IR_KIND_STRUCT, 1, below(k, m->n_structs)) : IR_VOID;
    default: return IR_VOID;
    }
}

static ir_type type_for(struct maker *k, enum ir_op op)
{
    ir_type t = type_of_class(k, ir_op_info(op)->type_class);
    if (is_atomic(op) && t != IR_VOID) {
        t = ir_type_element(t);
        if (ir_type_is_int(t)) t = chance(k, 50) ? IR_I32 : IR_I64;
    }
    switch (op) {
    case IR_OP_IEQ:
    case IR_OP_INE: return ir_type_is_float(t) ? ir_type_with_lanes(IR_I32, ir_type_lanes(t)) : t;
    case IR_OP_DOT:
    case IR_OP_LENGTH:
    case IR_OP_DISTANCE:
    case IR_OP_NORMALIZE: return ir_type_with_lanes(t, 1 + below(k, 4));
    case IR_OP_CROSS: return ir_type_with_lanes(t, 3 + below(k, 2));
    case IR_OP_ITRUNC: return ir_type_with_lanes(IR_TYPE(IR_KIND_I8 + below(k, 3), 1, 0), ir_type_lanes(t));
    case IR_OP_BITCAST: return ir_type_with_lanes(gen_scalar(&k->g), gen_lanes(&k->g));
    case IR_OP_PTRTOINT: return ir_type_element(t);
    case IR_OP_VSHUFFLE:
    case IR_OP_VSHUFFLE2: return ir_type_is_bool(t) ? ir_type_with_lanes(IR_I16, ir_type_lanes(t)) : t;
    case IR_OP_BLOCK_READ:
    case IR_OP_BLOCK_WRITE:
    case IR_OP_IMAGE_BLOCK_READ:
    case IR_OP_IMAGE_BLOCK_WRITE: return ir_type_lanes(t) == 3 ? ir_type_with_lanes(t, 4) : t;
    case IR_OP_IMAGE_READ:
    case IR_OP_IMAGE_WRITE: return ir_type_with_lanes(chance(k, 50) ? IR_F32 : IR_I32, 4);
    default: return t;
    }
}

/* The source type of a conversion to t. */
static ir_type source_type(struct maker *k, enum ir_op op, ir_type t)
{
    ir_type from;
    enum ir_kind kind = ir_type_kind(t);
    switch (op) {
    case IR_OP_ITRUNC: from = IR_TYPE(kind + 1 + below(k, IR_KIND_I64 - kind), 1, 0); break;
    case IR_OP_ZEXT:
    case IR_OP_SEXT: from = IR_TYPE(IR_KIND_BOOL + below(k, kind - IR_KIND_BOOL), 1, 0); break;
    case IR_OP_FPCONV: from = IR_TYPE(IR_KIND_F16 + (kind - IR_KIND_F16 + 1 + below(k, 2)) % 3, 1, 0); break;
    case IR_OP_FTOS:
    case IR_OP_FTOU: from = gen_float(&k->g); break;
    default: from = gen_int(&k->g); break;
    }
    return ir_type_with_lanes(from, ir_type_lanes(t));
}

/* A number type with as many bits as t, which exists: t's own element type at worst. */
static ir_type same_bits_type(struct maker *k, ir_type t)
{
    unsigned bits = ir_type_bits(t) * ir_type_lanes(t);
    for (int tries = 0; tries < 20; tries++) {
        ir_type from = ir_type_with_lanes(gen_scalar(&k->g), gen_lanes(&k->g));
        if (ir_type_bits(from) * ir_type_lanes(from) == bits) return from;
    }
    return t;
}

/* ---- operands ---- */

static unsigned coordinates_of(const struct ir_value *image)
{
    return ir_image_coordinates(ir_type_image_form(image->type));
}

/* first: operand 0, where it is there already. */
static struct ir_value *operand(struct maker *k, enum ir_op op, char letter, ir_type t, const struct ir_value *first)
{
    unsigned lanes = ir_type_lanes(t);
    switch (letter) {
    case 'T': return value_of(k, t);
    case 'E': return value_of(k, ir_type_element(t));
    case 'B': return value_of(k, op == IR_OP_SELECT && chance(k, 30) ? IR_BOOL : ir_type_with_lanes(IR_BOOL, lanes));
    case 'b': return value_of(k, IR_BOOL);
    case 'J': return value_of(k, ir_type_with_lanes(IR_I32, lanes));
    case 'i': return value_of(k, gen_int(&k->g));
    case 'u': return value_of(k, IR_I32);
    case 'z': return value_of(k, IR_I64);
    case 'N': return value_of(k, source_type(k, op, t));
    case 'V': return value_of(k, gen_vector_of(&k->g, ir_type_element(t)));
    case 'K': {
        ir_type e = IR_I8;
        while (ir_type_bits(e) != ir_type_bits(t)) e = gen_int(&k->g);
        return value_of(k, ir_type_with_lanes(e, lanes));
    }
    case 'P': return pointer(k, op);
    case 'X': return value_of(k, same_bits_type(k, t));
    case '2': return value_of(k, ir_type_with_lanes(IR_I32, 2));
    case 'D': return value_of(k, ir_type_with_lanes(IR_I32, coordinates_of(first)));
    case 'F': return value_of(k, ir_type_with_lanes(chance(k, 50) ? IR_I32 : IR_F32, coordinates_of(first)));
    case 'M': return gen_find_if(&k->g, is_usable, &(struct image_need){IR_KIND_IMAGE, forbidden_access(op), op});
    case 'Q': return gen_find_if(&k->g, is_usable, &(struct image_need){IR_KIND_PIPE, forbidden_access(op), op});
    case 'S': return gen_find(&k->g, IR_TYPE(IR_KIND_SAMPLER, 1, 0));
    default: return NULL;
    }
}

enum { MOST_OPERANDS = IR_MAX_LANES };

/* False where a value that is needed cannot be had. */
static bool operands_from_row(struct maker *k, enum ir_op op, ir_type t, struct ir_value **out, uint32_t *n)
{
    for (const char *letter = ir_op_info(op)->operands; *letter; letter++) {
        if (*letter == '?') continue;
        bool optional = letter[1] == '?';
        bool floats = optional && op == IR_OP_IMAGE_READ && ir_type_is_float(out[1]->type);
        bool texels = optional && op == IR_OP_IMAGE_READ && ir_type_image_form(out[0]->type) == IR_IMAGE_1D_BUFFER;
        if (floats && texels) return false; /* these need a sampler, which those do not take */
        if (optional && !floats && (texels || chance(k, 50))) break;
        out[*n] = operand(k, op, *letter, t, *n ? out[0] : NULL);
        if (!out[*n]) return false;
        ++*n;
    }
    return true;
}

/* Scalars and shorter vectors that fill t. */
static void operands_of_vec(struct maker *k, ir_type t, struct ir_value **out, uint32_t *n)
{
    unsigned left = ir_type_lanes(t);
    while (left) {
        unsigned lanes = gen_lanes(&k->g);
        if (lanes > left || lanes >= ir_type_lanes(t)) continue;
        out[(*n)++] = value_of(k, ir_type_with_lanes(t, lanes));
        left -= lanes;
    }
}

/* ---- attributes ---- */

static enum ir_order order_for(struct maker *k, enum ir_op op)
{
    enum ir_order order = below(k, IR_ORDER_COUNT);
    bool middle = order == IR_ORDER_ACQUIRE || order == IR_ORDER_RELEASE || order == IR_ORDER_ACQ_REL;
    if (middle && op == IR_OP_ATOMIC_LOAD) return IR_ORDER_ACQUIRE;
    if (middle && (op == IR_OP_ATOMIC_STORE || op == IR_OP_ATOMIC_CLEAR)) return IR_ORDER_RELEASE;
    return order;
}

static void set_scope(struct maker *k, struct ir_inst *inst)
{
    bool group = ir_op_info(inst->op)->flags & IR_FLAG_CONVERGENT;
    inst->attrs.scope = group ? IR_SCOPE_SUB_GROUP + below(k, 2) : below(k, IR_SCOPE_COUNT);
    if (inst->op == IR_OP_GROUP_BROADCAST && inst->n_operands > 2) inst->attrs.scope = IR_SCOPE_WORK_GROUP;
}

static void set_mask(struct maker *k, struct ir_inst *inst)
{
    uint32_t limit = ir_type_lanes(inst->operands[0]->type) + ir_type_lanes(inst->operands[1]->type);
    for (unsigned i = 0; i < ir_type_lanes(inst->type); i++)
        inst->attrs.mask[i] = (int8_t)((int)below(k, limit + 1) - 1);
}

static enum ir_group_op group_op_for(struct maker *k, ir_type t)
{
    static const enum ir_group_op of_floats[] = {IR_GROUP_ADD, IR_GROUP_MUL, IR_GROUP_SMIN, IR_GROUP_SMAX};
    return ir_type_is_float(t) ? of_floats[below(k, 4)] : below(k, IR_GROUP_OP_COUNT);
}

static void set_attribute(struct maker *k, struct ir_inst *inst, char letter)
{
    struct ir_attrs *a = &inst->attrs;
    switch (letter) {
    case 'd': a->dim = (uint8_t)below(k, 3); break;
    case 's': set_scope(k, inst); break;
    case 'o': a->order = (uint8_t)order_for(k, inst->op); break;
    case 'O': a->order_fail = (uint8_t)order_for(k, IR_OP_ATOMIC_LOAD); break;
    case 'r': a->rounding = (uint8_t)below(k, IR_ROUND_COUNT); break;
    case 't': a->saturate = below(k, 2); break;
    case 'v': a->is_volatile = chance(k, 20); break;
    case 'g': a->group_op = (uint8_t)group_op_for(k, inst->type); break;
    case 'f': a->fp = chance(k, 50) ? (uint8_t)below(k, IR_FP_NSZ << 1) : 0; break;
    case 'k': a->fence = (uint8_t)below(k, IR_FENCE_IMAGE << 1); break;
    case 'a': a->align = chance(k, 30) ? 1u << below(k, 10) : 0; break;
    case 'x': a->index = below(k, k->g.m->structs[ir_type_detail(inst->type)]->n_fields); break;
    case 'm': set_mask(k, inst); break;
    default: break;
    }
}

/* ---- instructions ---- */

static enum ir_space result_space(struct maker *k, enum ir_op op, struct ir_value *const *operands)
{
    if (op == IR_OP_VAR) return IR_SPACE_PRIVATE;
    if (op != IR_OP_SPACECAST) return below(k, IR_SPACE_COUNT);
    if (ir_type_space(operands[0]->type) != IR_SPACE_GENERIC) return IR_SPACE_GENERIC;
    static const enum ir_space named[] = {IR_SPACE_PRIVATE, IR_SPACE_GLOBAL, IR_SPACE_LOCAL};
    return named[below(k, 3)];
}

static void make_global_address(struct maker *k)
{
    struct ir_module *m = k->g.m;
    if (!m->n_globals) return;
    k->g.b.loc = new_loc(k, k->g.b.loc);
    struct ir_value *v = ir_build_global(&k->g.b, m->globals[below(k, m->n_globals)]);
    maybe_name(k, gen_define(&k->g, v));
}

static void make_plain(struct maker *k, enum ir_op op)
{
    struct ir_value *operands[MOST_OPERANDS];
    uint32_t n = 0;
    ir_type t = type_for(k, op);
    if (ir_op_info(op)->type_class != '-' && t == IR_VOID) return;
    if (op == IR_OP_FIELD && !k->g.m->structs[ir_type_detail(t)]->n_fields) return;
    if (op == IR_OP_VEC) {
        operands_of_vec(k, t, operands, &n);
    } else if (!operands_from_row(k, op, t, operands, &n)) {
        return;
    }
    struct ir_inst *inst = emit_ptr(k, op, t, result_space(k, op, operands), operands, n);
    for (const char *letter = ir_op_info(op)->attrs; *letter; letter++) set_attribute(k, inst, *letter);
}

static void make_call(struct maker *k)
{
    struct ir_module *m = k->g.m;
    struct ir_function *callee = m->functions[below(k, m->n_functions)];
    if (callee == k->g.b.block->function || callee->linkage == IR_LINKAGE_KERNEL) return;
    struct ir_value **operands = calloc(callee->n_params + 1, sizeof(*operands));
    if (!operands) abort();
    bool all = true;
    for (uint32_t i = 0; all && i < callee->n_params; i++) {
        operands[i] = value_of(k, callee->params[i].value->type);
        all = operands[i];
    }
    if (all) {
        struct ir_inst *inst = ir_build_call(&k->g.b, callee, operands, callee->n_params);
        if (inst->n_results) maybe_name(k, gen_define(&k->g, inst->results[0]));
    }
    free(operands);
}

static void fill_block(struct maker *k, struct ir_block *block, uint32_t depth);

static void make_if(struct maker *k, uint32_t depth)
{
    ir_type types[3];
    uint32_t n = below(k, 4);
    for (uint32_t i = 0; i < n; i++) types[i] = chance(k, 10) ? IR_PTR(IR_SPACE_PRIVATE) : number_type(k);
    struct ir_value *cond = value_of(k, IR_BOOL);
    k->g.b.loc = new_loc(k, k->g.b.loc);
    struct ir_inst *inst = ir_build_if(&k->g.b, cond, types, n);
    fill_block(k, inst->blocks[0], depth + 1);
    fill_block(k, inst->blocks[1], depth + 1);
    for (uint32_t i = 0; i < n; i++) maybe_name(k, gen_define(&k->g, inst->results[i]));
}

static void make_loop(struct maker *k, uint32_t depth)
{
    struct ir_value *init[3];
    ir_type types[3];
    uint32_t n_init = below(k, 4), n = below(k, 4);
    for (uint32_t i = 0; i < n_init; i++) init[i] = value_of(k, number_type(k));
    for (uint32_t i = 0; i < n; i++) types[i] = number_type(k);
    k->g.b.loc = new_loc(k, k->g.b.loc);
    struct ir_inst *inst = ir_build_loop(&k->g.b, init, n_init, types, n), *outer = k->loop;
    k->loop = inst;
    fill_block(k, inst->blocks[0], depth + 1);
    k->loop = outer;
    for (uint32_t i = 0; i < n; i++) maybe_name(k, gen_define(&k->g, inst->results[i]));
}

static void make_inst(struct maker *k, uint32_t depth)
{
    enum ir_op op = below(k, IR_OP_COUNT);
    unsigned flags = ir_op_info(op)->flags;
    if (chance(k, 8)) op = chance(k, 50) ? IR_OP_IF : IR_OP_LOOP;
    if (op == IR_OP_IF || op == IR_OP_LOOP) {
        if (depth >= k->options.depth) return;
        if (op == IR_OP_IF) {
            make_if(k, depth);
        } else {
            make_loop(k, depth);
        }
    } else if (op == IR_OP_CALL) {
        make_call(k);
    } else if (op == IR_OP_GLOBAL) {
        make_global_address(k);
    } else if (!(flags & IR_FLAG_TERMINATOR)) {
        make_plain(k, op);
    }
}

/* ---- blocks and functions ---- */

static enum ir_op choose_terminator(struct maker *k, const struct ir_block *block)
{
    if (chance(k, 5)) return IR_OP_UNREACHABLE;
    if (!block->parent || chance(k, 5)) return IR_OP_RETURN;
    bool of_if = block->parent->op == IR_OP_IF;
    if (of_if && (!k->loop || chance(k, 70))) return IR_OP_YIELD;
    return chance(k, 50) ? IR_OP_BREAK : IR_OP_CONTINUE;
}

static void make_terminator(struct maker *k, struct ir_block *block)
{
    enum ir_op op = choose_terminator(k, block);
    struct ir_value *operands[3], *const *targets = NULL;
    uint32_t n = 0;
    if (op == IR_OP_YIELD || op == IR_OP_BREAK) {
        const struct ir_inst *to = op == IR_OP_YIELD ? block->parent : k->loop;
        targets = to->results;
        n = to->n_results;
    } else if (op == IR_OP_CONTINUE) {
        targets = k->loop->blocks[0]->args;
        n = k->loop->blocks[0]->n_args;
    } else if (op == IR_OP_RETURN && block->function->result != IR_VOID) {
        n = 1;
    }
    for (uint32_t i = 0; i < n; i++) operands[i] = value_of(k, targets ? targets[i]->type : block->function->result);
    ir_build(&k->g.b, op, IR_VOID, operands, n);
}

static void fill_block(struct maker *k, struct ir_block *block, uint32_t depth)
{
    struct ir_builder outer = k->g.b;
    size_t n_visible = k->g.n_visible;
    k->g.b = ir_builder_at_end(block);
    k->g.b.loc = outer.loc;
    for (uint32_t i = 0; i < block->n_args; i++) maybe_name(k, gen_define(&k->g, block->args[i]));
    uint32_t share = block->parent ? k->left / 4 : k->left;
    for (uint32_t i = 0; i < share && k->left; i++) make_inst(k, depth);
    make_terminator(k, block);
    k->g.n_visible = n_visible;
    k->g.b = outer;
}

static ir_type param_type(struct maker *k, bool kernel)
{
    static const enum ir_space spaces[] = {IR_SPACE_GLOBAL, IR_SPACE_CONSTANT, IR_SPACE_LOCAL};
    switch (below(k, 8)) {
    case 0: return IR_IMAGE(below(k, IR_IMAGE_FORM_COUNT), below(k, IR_HANDLE_ACCESS_COUNT));
    case 1: return IR_TYPE(IR_KIND_PIPE, 1, below(k, 3));
    case 2: return IR_TYPE(IR_KIND_SAMPLER, 1, 0);
    case 3:
    case 4: return kernel ? IR_PTR(spaces[below(k, 3)]) : IR_PTR(below(k, IR_SPACE_COUNT));
    default: return number_type(k);
    }
}

static void make_param(struct maker *k, struct ir_function *f, uint32_t i)
{
    struct ir_module *m = f->module;
    struct ir_param *p = &f->params[i];
    const char *name = chance(k, 70) ? new_name(k, "a") : NULL;
    if (m->n_structs && chance(k, 10)) {
        ir_function_set_param(f, i, name, IR_PTR(IR_SPACE_PRIVATE));
        p->elem = IR_TYPE(IR_KIND_STRUCT, 1, below(k, m->n_structs));
        p->by_value = true;
        return;
    }
    ir_type t = param_type(k, f->linkage == IR_LINKAGE_KERNEL);
    ir_function_set_param(f, i, name, t);
    if (!ir_type_is_ptr(t)) return;
    if (chance(k, 70)) p->elem = memory_type(k);
    p->access = below(k, IR_ACCESS_COUNT);
}

static void number_aspects(struct maker *k)
{
    ir_module_number_aspect(k->g.m, "ext_second", below(k, 100));
    if (chance(k, 50)) ir_module_number_aspect(k->g.m, "ext_first", 5);
    if (chance(k, 50)) ir_module_number_aspect(k->g.m, "fp16", UINT32_MAX);
    ir_module_number_aspect(k->g.m, "ext_third", 1000);
}

static void make_attributes(struct maker *k, struct ir_function *f)
{
    static const uint32_t sub_group_sizes[] = {0, 0, 8, 16, 32, IR_SUB_GROUP_AUTOMATIC, IR_SUB_GROUP_PRIMARY};
    f->sub_group_size = sub_group_sizes[below(k, 7)];
    if (chance(k, 10)) f->sub_groups_per_work_group = 1 + below(k, 8);
    for (int i = 0; i < 3; i++) f->work_group_size[i] = 1 + below(k, 64);
    if (chance(k, 60)) memset(f->work_group_size, 0, sizeof f->work_group_size);
    if (chance(k, 30)) memcpy(f->work_group_size_hint, (uint32_t[]){64, 1, 1}, sizeof f->work_group_size_hint);
    if (chance(k, 30)) {
        f->has_targets = true;
        f->n_targets = below(k, 3);
        f->targets = ir_alloc(f->module, f->n_targets * sizeof *f->targets);
        for (uint32_t i = 0; i < f->n_targets; i++) f->targets[i] = new_name(k, "target \\ \"");
    }
    if (f->linkage == IR_LINKAGE_KERNEL && chance(k, 20)) {
        f->has_compiled = true;
        f->n_compiled = below(k, 3);
        f->compiled = ir_alloc(f->module, f->n_compiled * sizeof *f->compiled);
        for (uint32_t i = 0; i < f->n_compiled; i++) f->compiled[i] = new_name(k, "target");
    }
    if (f->linkage == IR_LINKAGE_KERNEL) f->assumes = below(k, 1 << IR_ASSUME_COUNT);
    f->has_declared = chance(k, 30);
    if (f->has_declared) f->aspects_declared = ir_function_aspects(f) | some_aspect(k);
    if (chance(k, 20)) f->aspects_used = some_aspect(k);
}

static void make_function(struct maker *k)
{
    enum ir_linkage linkage = below(k, IR_LINKAGE_COUNT);
    ir_type result = linkage == IR_LINKAGE_KERNEL || chance(k, 40) ? IR_VOID : number_type(k);
    struct ir_function *f = ir_function_new(k->g.m, new_name(k, "fn"), linkage, result, below(k, 8));
    f->loc = new_loc(k, (struct ir_loc){0});
    k->g.n_visible = 0;
    for (uint32_t i = 0; i < f->n_params; i++) {
        make_param(k, f, i);
        gen_define(&k->g, f->params[i].value);
    }
    k->left = k->options.instructions;
    k->g.b = (struct ir_builder){.loc = f->loc};
    if (f->body) fill_block(k, f->body, 1);
    make_attributes(k, f);
}

/* A work-group size may show that work-items miss each other; without one that is not known. */
static void drop_unmet_size(struct ir_function *f)
{
    const struct ir_barrier_group group = {
        .size = {f->work_group_size[0], f->work_group_size[1], f->work_group_size[2]}};
    struct ir_barrier_divergence finding;
    if (f->linkage == IR_LINKAGE_KERNEL && group.size[0] && ir_find_barrier_divergence(f, &group, &finding))
        memset(f->work_group_size, 0, sizeof f->work_group_size);
}

struct ir_module *random_module(uint64_t seed, const struct random_module_options *options)
{
    struct maker k = {.g.rng.state = seed};
    if (options) k.options = *options;
    if (!k.options.functions) k.options.functions = below(&k, 6);
    if (!k.options.instructions) k.options.instructions = 40;
    if (!k.options.depth) k.options.depth = 3;
    k.g.m = ir_module_new(chance(&k, 80) ? "random \"module\"" : NULL);
    if (chance(&k, 40)) number_aspects(&k);
    ir_module_file(k.g.m, "a.fk");
    ir_module_file(k.g.m, "dir/b \"quoted\".cl");
    make_types(&k);
    for (uint32_t i = below(&k, 4); i; i--) {
        if (chance(&k, 25)) {
            make_pipe(&k);
        } else {
            make_variable(&k);
        }
    }
    for (uint32_t i = below(&k, 3); i; i--) make_table(&k);
    for (uint32_t i = 0; i < k.options.functions; i++) make_function(&k);
    for (uint32_t i = 0; i < k.g.m->n_functions; i++) drop_unmet_size(k.g.m->functions[i]);
    gen_close(&k.g);
    return k.g.m;
}
