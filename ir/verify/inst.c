/* One instruction against its row of ops.def: type, operands, results, attributes. */
#include "ir/verify/inst.h"

#include <string.h>

#include "ir/verify/known_types.h"
#include "ir/verify/ops.h"
#include "ir/verify/report.h"

/* ---- the letters of the table ---- */

static bool class_holds(const struct verifier *v, char letter, ir_type t)
{
    bool scalar = ir_type_lanes(t) == 1;
    switch (letter) {
    case 'i': return ir_type_is_int(t);
    case 'f': return ir_type_is_float(t);
    case 'a': return ir_type_is_int(t) || ir_type_is_float(t);
    case 'l': return ir_type_is_int(t) || ir_type_is_bool(t);
    case 'n': return ir_type_is_number(t) || ir_type_is_ptr(t);
    case 'v': return ir_type_is_vector(t);
    case 'w': return ir_type_is_number(t) && scalar;
    case 'm': return verify_type_memory(v, t);
    case 's': return ir_type_kind(t) == IR_KIND_STRUCT && verify_type_memory(v, t);
    default: return false;
    }
}

static const char *class_text(char letter)
{
    switch (letter) {
    case 'i': return "an integer or a vector of integers";
    case 'f': return "a float or a vector of floats";
    case 'a': return "an integer, a float, or a vector of them";
    case 'l': return "a bool, an integer, or a vector of them";
    case 'n': return "a number, a vector or a pointer";
    case 'v': return "a vector";
    case 'w': return "a scalar number";
    case 'm': return "a type that can lie in memory";
    default: return "a struct";
    }
}

/* The one type that a letter stands for, given T; IR_VOID where it allows several. */
static ir_type exact_type(char letter, ir_type t)
{
    switch (letter) {
    case 'T': return t;
    case 'E': return ir_type_element(t);
    case 'B': return ir_type_with_lanes(IR_BOOL, ir_type_lanes(t));
    case 'b': return IR_BOOL;
    case 'I':
    case 'J': return ir_type_with_lanes(IR_I32, ir_type_lanes(t));
    case 'u': return IR_I32;
    case 'z': return IR_I64;
    case '2': return ir_type_with_lanes(IR_I32, 2);
    case 'L': return ir_type_with_lanes(IR_I32, 4);
    case 'S': return IR_TYPE(IR_KIND_SAMPLER, 1, 0);
    default: return IR_VOID;
    }
}

/* Of some image; that it is this one's is checked in ops.c. */
static bool is_coordinates(ir_type t, ir_type element)
{
    return ir_type_element(t) == element && ir_type_lanes(t) <= 3;
}

static bool letter_holds(char letter, ir_type t, ir_type actual)
{
    unsigned lanes = ir_type_lanes(t);
    switch (letter) {
    case 'i': return ir_type_is_int(actual) && ir_type_lanes(actual) == 1;
    case 'N': return ir_type_is_number(actual) && ir_type_lanes(actual) == lanes;
    case 'V': return ir_type_is_vector(actual) && ir_type_element(actual) == ir_type_element(t);
    case 'K':
        return ir_type_is_int(actual) && ir_type_lanes(actual) == lanes && ir_type_bits(actual) == ir_type_bits(t);
    case 'P': return ir_type_is_ptr(actual);
    case 'X': return ir_type_is_value(actual);
    case 'D': return is_coordinates(actual, IR_I32);
    case 'F': return is_coordinates(actual, IR_I32) || is_coordinates(actual, IR_F32);
    case 'M': return ir_type_kind(actual) == IR_KIND_IMAGE;
    case 'Q': return ir_type_kind(actual) == IR_KIND_PIPE;
    default: return actual == exact_type(letter, t);
    }
}

static const char *letter_text(struct verifier *v, char letter, ir_type t)
{
    switch (letter) {
    case 'i': return "a scalar integer";
    case 'N': return "a number with as many lanes as the result";
    case 'V': return "a vector of the same elements";
    case 'K': return "a vector of as many integers as wide as the elements";
    case 'P': return "a pointer";
    case 'X': return "a value";
    case 'D': return "i32, i32x2 or i32x3";
    case 'F': return "i32 or f32, or two or three of them";
    case 'M': return "an image";
    case 'Q': return "a pipe";
    default: return verify_type_text(v, exact_type(letter, t));
    }
}

/* ---- T ---- */

static bool check_type(struct verifier *v, const struct ir_inst *inst)
{
    char letter = ir_op_info(inst->op)->type_class;
    if (letter == '-') {
        if (inst->type != IR_VOID) verify_report(v, "has a type, which this operation has not");
        return inst->type == IR_VOID;
    }
    if (verify_type_ok(v, inst->type) && class_holds(v, letter, inst->type)) return true;
    verify_report(v, "is of type %s, must be %s", verify_type_text(v, inst->type), class_text(letter));
    return false;
}

/* ---- operands ---- */

static void check_const(struct verifier *v, uint32_t i, const struct ir_value *value)
{
    ir_type t = value->type;
    if (!ir_type_is_number(t) && !ir_type_is_ptr(t)) {
        verify_report(v, "operand %u is a constant of type %s", i, verify_type_text(v, t));
        return;
    }
    if (!value->of.lanes) {
        verify_report(v, "operand %u is a constant without a value", i);
        return;
    }
    unsigned bits = ir_type_is_ptr(t) ? 0 : ir_type_bits(t); /* of pointers only null */
    for (unsigned lane = 0; lane < ir_type_lanes(t); lane++)
        if (bits < 64 && value->of.lanes[lane] >> bits)
            verify_report(v, "operand %u is a constant whose lane %u, %#llx, does not fit %s", i, lane,
                          (unsigned long long)value->of.lanes[lane], verify_type_text(v, t));
}

/* Blocks from where the verifier stands outwards. */
static bool stands_inside(const struct verifier *v, const struct ir_block *block)
{
    for (const struct ir_block *b = v->block; b; b = b->parent ? b->parent->parent : NULL)
        if (b == block) return true;
    return false;
}

static void report_out_of_sight(struct verifier *v, uint32_t i, const struct ir_value *value)
{
    const char *name = value->name ? value->name : "";
    const char *sign = value->name ? " %" : "";
    const struct ir_block *block = NULL;
    const struct ir_function *f = NULL;
    uint32_t line = 0;
    if (value->kind == IR_VALUE_PARAM) {
        f = value->of.function;
    } else if (value->kind == IR_VALUE_BLOCK_ARG) {
        block = value->of.block;
    } else if (value->of.inst) {
        block = value->of.inst->parent;
        line = value->of.inst->loc.line;
    }
    if (block) f = block->function;
    if (!f) {
        verify_report(v, "operand %u%s%s is defined nowhere", i, sign, name);
    } else if (f != v->f) {
        verify_report(v, "operand %u%s%s belongs to function %s", i, sign, name, f->name ? f->name : "?");
    } else if (!block || stands_inside(v, block)) {
        verify_report(v, "operand %u%s%s is used before it is defined on line %u", i, sign, name, line);
    } else {
        verify_report(v, "operand %u%s%s is defined on line %u in a block that this one is not inside", i, sign, name,
                      line);
    }
}

/* True when the operand is there and has a type to compare. */
static bool check_value(struct verifier *v, uint32_t i, const struct ir_value *value)
{
    if (!value || value->kind > IR_VALUE_RESULT) {
        verify_report(v, "operand %u is missing", i);
        v->broken = true;
        return false;
    }
    if (!verify_type_ok(v, value->type) || !ir_type_is_value(value->type)) {
        verify_report(v, "operand %u is of type %s, which is no type of a value", i, verify_type_text(v, value->type));
        return false;
    }
    if (value->kind == IR_VALUE_CONST) {
        check_const(v, i, value);
    } else if (value->kind != IR_VALUE_UNDEF &&
               (value->scratch >= v->n_visible || v->visible[value->scratch] != value)) {
        report_out_of_sight(v, i, value);
    }
    return true;
}

static void check_operand_count(struct verifier *v, const struct ir_inst *inst)
{
    uint32_t most = 0, optional = 0;
    for (const char *letter = ir_op_info(inst->op)->operands; *letter; letter++) {
        if (*letter == '*') return;
        if (*letter == '?') {
            optional++;
        } else {
            most++;
        }
    }
    if (inst->n_operands > most || inst->n_operands < most - optional) {
        verify_report(v, "has %u operands, must have %s%u", inst->n_operands, optional ? "at most " : "", most);
    }
}

static bool check_operands(struct verifier *v, const struct ir_inst *inst, bool type_good)
{
    const char *letter = ir_op_info(inst->op)->operands;
    bool present = true;
    check_operand_count(v, inst);
    if (inst->n_operands && !inst->operands) {
        verify_report(v, "has no list of operands");
        v->broken = true;
        return false;
    }
    for (uint32_t i = 0; i < inst->n_operands; i++) {
        const struct ir_value *value = inst->operands[i];
        char wanted = 0;
        if (*letter && *letter != '*') wanted = *letter++;
        if (*letter == '?') letter++;
        if (!check_value(v, i, value)) {
            present = false;
        } else if (wanted && type_good && !letter_holds(wanted, inst->type, value->type) &&
                   !(inst->op == IR_OP_SELECT && i == 0 && value->type == IR_BOOL)) {
            verify_report(v, "operand %u is %s, must be %s", i, verify_type_text(v, value->type),
                          letter_text(v, wanted, inst->type));
        }
    }
    return present;
}

/* ---- results ---- */

static void check_result(struct verifier *v, const struct ir_inst *inst, bool type_good)
{
    char letter = ir_op_info(inst->op)->result;
    if (letter == '*') return;
    uint32_t wanted = letter != '-';
    if (inst->n_results != wanted) {
        verify_report(v, "has %u results, must have %u", inst->n_results, wanted);
        return;
    }
    if (!wanted || !inst->results || !inst->results[0] || inst->op == IR_OP_GLOBAL) return;
    ir_type actual = inst->results[0]->type;
    if (letter == 'P') {
        if (inst->n_operands && inst->operands && inst->operands[0] && actual != inst->operands[0]->type)
            verify_report(v, "the result is %s, must be %s as operand 0", verify_type_text(v, actual),
                          verify_type_text(v, inst->operands[0]->type));
        return;
    }
    if (letter != 'A' && !type_good) return;
    ir_type type = letter == 'A' ? IR_PTR(inst->attrs.space) : exact_type(letter, inst->type);
    if (actual != type)
        verify_report(v, "the result is %s, must be %s", verify_type_text(v, actual), verify_type_text(v, type));
}

/* ---- attributes ---- */

static void check_number(struct verifier *v, const struct ir_inst *inst, char letter, const char *name, uint32_t value,
                         uint32_t limit)
{
    if (!strchr(ir_op_info(inst->op)->attrs, letter)) {
        if (value) verify_report(v, "has the attribute %s, which this operation has not", name);
    } else if (value >= limit) {
        verify_report(v, "has %s %u, must be below %u", name, value, limit);
    }
}

static void check_callee(struct verifier *v, const struct ir_inst *inst)
{
    const struct ir_function *callee = inst->attrs.callee;
    if (!strchr(ir_op_info(inst->op)->attrs, 'c')) {
        if (callee) verify_report(v, "has the attribute callee, which this operation has not");
    } else if (!callee || callee->scratch >= v->m->n_functions || v->m->functions[callee->scratch] != callee) {
        verify_report(v, "calls no function of the module");
        v->broken = true;
    }
}

static void check_global(struct verifier *v, const struct ir_inst *inst)
{
    const struct ir_global *g = inst->attrs.global;
    if (!strchr(ir_op_info(inst->op)->attrs, 'y')) {
        if (g) verify_report(v, "has the attribute global, which this operation has not");
    } else if (!g || g->scratch >= v->m->n_globals || v->m->globals[g->scratch] != g) {
        verify_report(v, "names no global of the module");
        v->broken = true;
    }
}

static void check_align(struct verifier *v, const struct ir_inst *inst)
{
    uint32_t align = inst->attrs.align;
    check_number(v, inst, 'a', "align", align, UINT32_MAX);
    if (strchr(ir_op_info(inst->op)->attrs, 'a') && align & (align - 1))
        verify_report(v, "has align %u, which is not a power of two", align);
}

static void check_mask(struct verifier *v, const struct ir_inst *inst)
{
    unsigned used = strchr(ir_op_info(inst->op)->attrs, 'm') ? ir_type_lanes(inst->type) : 0;
    for (unsigned i = used; i < IR_MAX_LANES; i++) {
        if (inst->attrs.mask[i]) {
            verify_report(v, "has a lane mask with an entry %u; it has %u", i, used);
            return;
        }
    }
}

static void check_attributes(struct verifier *v, const struct ir_inst *inst)
{
    const struct ir_attrs *a = &inst->attrs;
    check_number(v, inst, 'd', "dim", a->dim, 3);
    check_number(v, inst, 's', "scope", a->scope, IR_SCOPE_COUNT);
    check_number(v, inst, 'o', "order", a->order, IR_ORDER_COUNT);
    check_number(v, inst, 'O', "order_fail", a->order_fail, IR_ORDER_COUNT);
    check_number(v, inst, 'r', "rounding", a->rounding, IR_ROUND_COUNT);
    check_number(v, inst, 't', "saturate", a->saturate, 2);
    check_number(v, inst, 'v', "volatile", a->is_volatile, 2);
    check_number(v, inst, 'g', "group operation", a->group_op, IR_GROUP_OP_COUNT);
    check_number(v, inst, 'f', "fp flags", a->fp, IR_FP_NSZ << 1);
    check_number(v, inst, 'k', "fence spaces", a->fence, IR_FENCE_IMAGE << 1);
    check_number(v, inst, 'p', "space", a->space, IR_SPACE_COUNT);
    check_number(v, inst, 'x', "index", a->index, UINT32_MAX);
    check_align(v, inst);
    check_mask(v, inst);
    check_callee(v, inst);
    check_global(v, inst);
}

void verify_inst(struct verifier *v, const struct ir_inst *inst)
{
    if (inst->op >= IR_OP_COUNT) {
        verify_report(v, "has operation number %u, which does not exist", inst->op);
        v->broken = true;
        return;
    }
    bool type_good = check_type(v, inst);
    bool operands_present = check_operands(v, inst, type_good);
    check_result(v, inst, type_good);
    check_attributes(v, inst);
    if (type_good && operands_present) verify_op(v, inst);
}
