/* What printer and parser of the text form must agree on. */
#include "ir/text/words.h"

#include <string.h>

const char *const ir_space_words[] = {"private", "global", "constant", "local", "generic"};
const char *const ir_scope_words[] = {"work_item", "sub_group", "work_group", "device", "all_devices"};
const char *const ir_order_words[] = {"relaxed", "acquire", "release", "acq_rel", "seq_cst"};
const char *const ir_rounding_words[] = {NULL, "rte", "rtz", "rtp", "rtn"};
const char *const ir_group_words[] = {"add", "mul", "smin", "umin", "smax", "umax", "and", "or", "xor"};
const char *const ir_access_words[] = {NULL, "read", "write", "read_write"};
const char *const ir_image_words[] = {"image2d",        "image1d",       "image1d_array",
                                      "image1d_buffer", "image2d_array", "image3d"};
const char *const ir_dim_words[] = {"x", "y", "z"};
const char *const ir_scalar_words[IR_KIND_COUNT] = {
    [IR_KIND_VOID] = "void", [IR_KIND_BOOL] = "bool",      [IR_KIND_I8] = "i8",   [IR_KIND_I16] = "i16",
    [IR_KIND_I32] = "i32",   [IR_KIND_I64] = "i64",        [IR_KIND_F16] = "f16", [IR_KIND_F32] = "f32",
    [IR_KIND_F64] = "f64",   [IR_KIND_SAMPLER] = "sampler"};
const char *const ir_fp_words[] = {"contract", "fast", "nnan", "ninf", "nsz"};
const char *const ir_fence_words[] = {"local", "global", "image"};

/* The letter of operand i in a row of the table, the marks for optional ones left out; 0: none. */
static char operand_letter(const char *letters, uint32_t i)
{
    for (; *letters; letters++) {
        if (*letters == '?') continue;
        if (*letters == '*' || i-- == 0) return *letters;
    }
    return 0;
}

static unsigned coordinates_of(const struct ir_value *image)
{
    bool is_image = image && ir_type_kind(image->type) == IR_KIND_IMAGE;
    return is_image ? ir_image_coordinates(ir_type_image_form(image->type)) : 2;
}

ir_type ir_operand_type(enum ir_op op, ir_type t, const struct ir_value *first, uint32_t i)
{
    unsigned lanes = ir_type_lanes(t);
    switch (operand_letter(ir_op_info(op)->operands, i)) {
    case 'T':
    case 'V': return t;
    case 'E': return ir_type_element(t);
    case '*': return op == IR_OP_VEC ? ir_type_element(t) : IR_VOID;
    case 'B': return ir_type_with_lanes(IR_BOOL, lanes);
    case 'b': return IR_BOOL;
    case 'J': return ir_type_with_lanes(IR_I32, lanes);
    case 'i':
    case 'z': return IR_I64;
    case 'u': return IR_I32;
    case 'K':
        switch (ir_type_bits(t)) {
        case 8: return ir_type_with_lanes(IR_I8, lanes);
        case 16: return ir_type_with_lanes(IR_I16, lanes);
        case 32: return ir_type_with_lanes(IR_I32, lanes);
        case 64: return ir_type_with_lanes(IR_I64, lanes);
        default: return IR_VOID;
        }
    case '2': return ir_type_with_lanes(IR_I32, 2);
    case 'D':
    case 'F': return ir_type_with_lanes(IR_I32, coordinates_of(first));
    default: return IR_VOID;
    }
}

struct ir_inst *ir_loop_around(const struct ir_block *block)
{
    struct ir_inst *inst = block->parent;
    while (inst && inst->op != IR_OP_LOOP) inst = inst->parent ? inst->parent->parent : NULL;
    return inst;
}

static ir_type result_type(const struct ir_inst *inst, uint32_t i)
{
    return inst && i < inst->n_results && inst->results[i] ? inst->results[i]->type : IR_VOID;
}

ir_type ir_carried_type(const struct ir_block *block, enum ir_op op, uint32_t i)
{
    const struct ir_inst *loop = ir_loop_around(block);
    switch (op) {
    case IR_OP_YIELD: return result_type(block->parent, i);
    case IR_OP_BREAK: return result_type(loop, i);
    case IR_OP_CONTINUE:
        if (!loop || !loop->blocks[0] || i >= loop->blocks[0]->n_args) return IR_VOID;
        return loop->blocks[0]->args[i]->type;
    case IR_OP_RETURN: return i ? IR_VOID : block->function->result;
    default: return IR_VOID;
    }
}

ir_type ir_argument_type(const struct ir_function *callee, uint32_t i)
{
    return callee && i < callee->n_params ? callee->params[i].value->type : IR_VOID;
}

void ir_operand_count(enum ir_op op, uint32_t *least, uint32_t *most)
{
    *least = *most = 0;
    for (const char *c = ir_op_info(op)->operands; *c; c++) {
        if (*c == '?') {
            --*least;
        } else if (*c == '*') {
            *most = UINT32_MAX;
            return;
        } else {
            ++*least;
            ++*most;
        }
    }
}

enum ir_scope ir_default_scope(enum ir_op op)
{
    return ir_op_info(op)->flags & IR_FLAG_CONVERGENT ? IR_SCOPE_WORK_GROUP : IR_SCOPE_DEVICE;
}
