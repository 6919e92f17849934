/* The rules of single operations that their rows of ops.def cannot say. */
#include "ir/verify/ops.h"

#include "ir/verify/known_types.h"
#include "ir/verify/report.h"

/* verify_op() is called with operands that are there and have types, but their number and their types
   may be wrong (and are reported): operand types are asked for through this. */
static ir_type operand_type(const struct ir_inst *inst, uint32_t i)
{
    return i < inst->n_operands ? inst->operands[i]->type : IR_VOID;
}

static enum ir_space operand_space(const struct ir_inst *inst, uint32_t i)
{
    ir_type t = operand_type(inst, i);
    return ir_type_is_ptr(t) ? ir_type_space(t) : IR_SPACE_COUNT;
}

/* ---- numbers ---- */

static void check_integer_source(struct verifier *v, const struct ir_inst *inst, bool bool_too)
{
    ir_type from = operand_type(inst, 0);
    if (ir_type_is_number(from) && !ir_type_is_int(from) && !(bool_too && ir_type_is_bool(from)))
        verify_report(v, "operand 0 is %s, must be of integers%s", verify_type_text(v, from),
                      bool_too ? " or bools" : "");
}

static void check_float_source(struct verifier *v, const struct ir_inst *inst)
{
    ir_type from = operand_type(inst, 0);
    if (ir_type_is_number(from) && !ir_type_is_float(from))
        verify_report(v, "operand 0 is %s, must be of floats", verify_type_text(v, from));
}

static void check_width(struct verifier *v, const struct ir_inst *inst, bool holds, const char *what)
{
    ir_type from = operand_type(inst, 0);
    if (ir_type_is_number(from) && !holds)
        verify_report(v, "%s is not %s than %s", verify_type_text(v, inst->type), what, verify_type_text(v, from));
}

static void check_conversion(struct verifier *v, const struct ir_inst *inst)
{
    unsigned from = ir_type_bits(operand_type(inst, 0)), to = ir_type_bits(inst->type);
    switch (inst->op) {
    case IR_OP_ITRUNC:
        check_integer_source(v, inst, false);
        check_width(v, inst, to < from, "narrower");
        break;
    case IR_OP_ZEXT:
    case IR_OP_SEXT:
        check_integer_source(v, inst, true);
        check_width(v, inst, to > from, "wider");
        break;
    case IR_OP_FPCONV:
        check_float_source(v, inst);
        check_width(v, inst, to != from, "another width");
        break;
    case IR_OP_FTOS:
    case IR_OP_FTOU: check_float_source(v, inst); break;
    default: check_integer_source(v, inst, false); break;
    }
}

static void check_bitcast(struct verifier *v, const struct ir_inst *inst)
{
    ir_type from = operand_type(inst, 0), to = inst->type;
    if (!ir_type_is_number(from) || !ir_type_is_number(to) || ir_type_is_bool(from) || ir_type_is_bool(to)) {
        verify_report(v, "from %s to %s; both must be integers, floats or vectors of them", verify_type_text(v, from),
                      verify_type_text(v, to));
        return;
    }
    unsigned from_bits = ir_type_bits(from) * ir_type_lanes(from), to_bits = ir_type_bits(to) * ir_type_lanes(to);
    if (from_bits != to_bits)
        verify_report(v, "from %s of %u bits to %s of %u bits", verify_type_text(v, from), from_bits,
                      verify_type_text(v, to), to_bits);
}

static void check_geometric(struct verifier *v, const struct ir_inst *inst)
{
    unsigned lanes = ir_type_lanes(inst->type);
    if (lanes > 4 || (inst->op == IR_OP_CROSS && lanes < 3))
        verify_report(v, "is of type %s, must have %s lanes", verify_type_text(v, inst->type),
                      inst->op == IR_OP_CROSS ? "3 or 4" : "1 to 4");
}

/* ---- vectors ---- */

static void check_vec(struct verifier *v, const struct ir_inst *inst)
{
    unsigned lanes = 0;
    for (uint32_t i = 0; i < inst->n_operands; i++) {
        ir_type t = inst->operands[i]->type;
        if (ir_type_element(t) != ir_type_element(inst->type))
            verify_report(v, "operand %u is %s, must be of %s", i, verify_type_text(v, t),
                          verify_type_text(v, ir_type_element(inst->type)));
        if (ir_type_lanes(t) >= ir_type_lanes(inst->type))
            verify_report(v, "operand %u is no shorter than the result", i);
        if (lanes <= IR_MAX_LANES) lanes += ir_type_lanes(t);
    }
    if (lanes != ir_type_lanes(inst->type))
        verify_report(v, "has operands of %u lanes in all for a result of %u", lanes, ir_type_lanes(inst->type));
}

static void check_shuffle(struct verifier *v, const struct ir_inst *inst)
{
    int limit = (int)(ir_type_lanes(operand_type(inst, 0)) + ir_type_lanes(operand_type(inst, 1)));
    for (unsigned i = 0; i < ir_type_lanes(inst->type); i++)
        if (inst->attrs.mask[i] < -1 || inst->attrs.mask[i] >= limit)
            verify_report(v, "has mask entry %u, %d; it must be -1 or a lane below %d", i, inst->attrs.mask[i], limit);
}

/* ---- memory ---- */

static void check_writable(struct verifier *v, const struct ir_inst *inst, uint32_t i)
{
    if (operand_space(inst, i) == IR_SPACE_CONSTANT) verify_report(v, "writes constant memory through operand %u", i);
}

static void check_atomic(struct verifier *v, const struct ir_inst *inst)
{
    enum ir_order order = inst->attrs.order, fail = inst->attrs.order_fail;
    if (ir_type_is_vector(inst->type) || (ir_type_is_int(inst->type) && ir_type_bits(inst->type) < 32))
        verify_report(v, "is of type %s, must be i32, i64 or a scalar float", verify_type_text(v, inst->type));
    if (ir_op_info(inst->op)->flags & IR_FLAG_WRITES) check_writable(v, inst, 0);
    if (inst->op == IR_OP_ATOMIC_LOAD && (order == IR_ORDER_RELEASE || order == IR_ORDER_ACQ_REL))
        verify_report(v, "reads only, so its order cannot be release or acq_rel");
    if ((inst->op == IR_OP_ATOMIC_STORE || inst->op == IR_OP_ATOMIC_CLEAR) &&
        (order == IR_ORDER_ACQUIRE || order == IR_ORDER_ACQ_REL))
        verify_report(v, "writes only, so its order cannot be acquire or acq_rel");
    if (inst->op == IR_OP_ATOMIC_CMPXCHG && (fail == IR_ORDER_RELEASE || fail == IR_ORDER_ACQ_REL))
        verify_report(v, "writes nothing where it fails, so the order of that cannot be release or acq_rel");
}

static void check_spacecast(struct verifier *v, const struct ir_inst *inst)
{
    enum ir_space from = operand_space(inst, 0), to = inst->attrs.space;
    if (from == IR_SPACE_COUNT) return;
    if ((from == IR_SPACE_GENERIC) == (to == IR_SPACE_GENERIC) || from == IR_SPACE_CONSTANT || to == IR_SPACE_CONSTANT)
        verify_report(v, "goes from %s to %s; one of the two must be generic and none constant",
                      verify_type_text(v, operand_type(inst, 0)), verify_type_text(v, IR_PTR(to)));
}

static void check_global(struct verifier *v, const struct ir_inst *inst)
{
    const struct ir_global *g = inst->attrs.global;
    if (!g || inst->n_results != 1 || !inst->results || !inst->results[0]) return;
    ir_type type = ir_type_kind(g->type) == IR_KIND_PIPE ? g->type : IR_PTR(g->space);
    if (inst->attrs.space != g->space) verify_report(v, "names another address space than that of %s", g->name);
    if (inst->results[0]->type != type)
        verify_report(v, "the result is %s, must be %s", verify_type_text(v, inst->results[0]->type),
                      verify_type_text(v, type));
}

static void check_field(struct verifier *v, const struct ir_inst *inst)
{
    const struct ir_struct *s = v->m->structs[ir_type_detail(inst->type)];
    if (inst->attrs.index >= s->n_fields)
        verify_report(v, "names field %u of a struct of %u", inst->attrs.index, s->n_fields);
}

/* ---- groups ---- */

static void check_group_scope(struct verifier *v, const struct ir_inst *inst)
{
    if (inst->attrs.scope != IR_SCOPE_WORK_GROUP && inst->attrs.scope != IR_SCOPE_SUB_GROUP)
        verify_report(v, "has a scope that is neither work_group nor sub_group");
    if (inst->op == IR_OP_GROUP_BROADCAST && inst->attrs.scope == IR_SCOPE_SUB_GROUP && inst->n_operands > 2)
        verify_report(v, "has %u ids; a sub-group has one", inst->n_operands - 1);
}

static void check_group_op(struct verifier *v, const struct ir_inst *inst)
{
    check_group_scope(v, inst);
    enum ir_group_op op = inst->attrs.group_op;
    bool for_floats = op == IR_GROUP_ADD || op == IR_GROUP_MUL || op == IR_GROUP_SMIN || op == IR_GROUP_SMAX;
    if (ir_type_is_float(inst->type) && !for_floats)
        verify_report(v, "has a group operation for integers and type %s", verify_type_text(v, inst->type));
}

static void check_block_lanes(struct verifier *v, const struct ir_inst *inst)
{
    if (ir_type_lanes(inst->type) == 3)
        verify_report(v, "is of type %s, must have 1, 2, 4, 8 or 16 lanes", verify_type_text(v, inst->type));
    if (inst->op == IR_OP_BLOCK_WRITE) check_writable(v, inst, 0);
}

/* ---- images and pipes ---- */

/* Operand 0 is an image or a pipe that the operation may be used with. */
static void check_access(struct verifier *v, const struct ir_inst *inst, enum ir_handle_access forbidden)
{
    ir_type t = operand_type(inst, 0);
    bool handle = ir_type_kind(t) == IR_KIND_IMAGE || ir_type_kind(t) == IR_KIND_PIPE;
    if (handle && ir_type_handle_access(t) == forbidden)
        verify_report(v, "operand 0 is %s only", forbidden == IR_HANDLE_READ ? "for reading" : "for writing");
}

static void check_texel(struct verifier *v, const struct ir_inst *inst)
{
    if (inst->type != IR_TYPE(IR_KIND_F32, 4, 0) && inst->type != IR_TYPE(IR_KIND_I32, 4, 0))
        verify_report(v, "is of type %s, must be f32x4 or i32x4", verify_type_text(v, inst->type));
    if (inst->op == IR_OP_IMAGE_READ && ir_type_is_float(operand_type(inst, 1)) && inst->n_operands < 3)
        verify_report(v, "has float coordinates and no sampler");
    ir_type image = operand_type(inst, 0), at = operand_type(inst, 1);
    if (ir_type_kind(image) != IR_KIND_IMAGE) return;
    unsigned n = ir_image_coordinates(ir_type_image_form(image));
    if (ir_type_lanes(at) != n)
        verify_report(v, "has coordinates of type %s, but %s takes %u", verify_type_text(v, at),
                      verify_type_text(v, image), n);
    if (inst->op == IR_OP_IMAGE_READ && inst->n_operands > 2 && ir_type_image_form(image) == IR_IMAGE_1D_BUFFER)
        verify_report(v, "samples an image of a buffer, which has texels only");
}

/* Operand 0 is an image that has what is asked for. */
static void check_form(struct verifier *v, const struct ir_inst *inst)
{
    ir_type t = operand_type(inst, 0);
    enum ir_image_form form = ir_type_image_form(t);
    if (ir_type_kind(t) != IR_KIND_IMAGE) return;
    bool has = true;
    switch (inst->op) {
    case IR_OP_IMAGE_BLOCK_READ:
    case IR_OP_IMAGE_BLOCK_WRITE: has = form == IR_IMAGE_2D; break;
    case IR_OP_IMAGE_HEIGHT: has = form == IR_IMAGE_2D || form == IR_IMAGE_2D_ARRAY || form == IR_IMAGE_3D; break;
    case IR_OP_IMAGE_DEPTH: has = form == IR_IMAGE_3D; break;
    case IR_OP_IMAGE_ARRAY_SIZE: has = ir_image_is_array(form); break;
    default: break;
    }
    if (!has) verify_report(v, "does not go with %s", verify_type_text(v, t));
}

/* ---- control flow ---- */

/* Operands against the types of what they become: parameters, results. */
static void check_carried(struct verifier *v, const struct ir_inst *inst, struct ir_value *const *targets, uint32_t n,
                          const char *what)
{
    if (inst->n_operands != n) {
        verify_report(v, "carries %u values to %u %s", inst->n_operands, n, what);
        return;
    }
    for (uint32_t i = 0; targets && i < n; i++)
        if (targets[i] && targets[i]->type != inst->operands[i]->type)
            verify_report(v, "operand %u is %s, must be %s as the %s", i, verify_type_text(v, inst->operands[i]->type),
                          verify_type_text(v, targets[i]->type), what);
}

static const struct ir_inst *enclosing_loop(const struct verifier *v)
{
    const struct ir_inst *p = v->block->parent;
    while (p && p->op != IR_OP_LOOP) p = p->parent->parent;
    return p;
}

static void check_yield(struct verifier *v, const struct ir_inst *inst)
{
    const struct ir_inst *p = v->block->parent;
    if (!p || p->op != IR_OP_IF) {
        verify_report(v, "stands in a block that is not an if's");
    } else {
        check_carried(v, inst, p->results, p->n_results, "results of the if");
    }
}

static void check_loop_exit(struct verifier *v, const struct ir_inst *inst)
{
    const struct ir_inst *loop = enclosing_loop(v);
    if (!loop) {
        verify_report(v, "stands in no loop");
    } else if (inst->op == IR_OP_BREAK) {
        check_carried(v, inst, loop->results, loop->n_results, "results of the loop");
    } else if (loop->blocks[0]) {
        check_carried(v, inst, loop->blocks[0]->args, loop->blocks[0]->n_args, "parameters of the loop");
    }
}

static void check_return(struct verifier *v, const struct ir_inst *inst)
{
    uint32_t wanted = v->f->result != IR_VOID;
    if (inst->n_operands != wanted) {
        verify_report(v, "returns %u values from a function of %u", inst->n_operands, wanted);
    } else if (wanted && inst->operands[0]->type != v->f->result) {
        verify_report(v, "returns %s from a function of %s", verify_type_text(v, inst->operands[0]->type),
                      verify_type_text(v, v->f->result));
    }
}

static void check_loop(struct verifier *v, const struct ir_inst *inst)
{
    const struct ir_block *body = inst->blocks[0];
    if (body) check_carried(v, inst, body->args, body->n_args, "parameters of the loop");
}

static void check_call_result(struct verifier *v, const struct ir_inst *inst, ir_type type)
{
    uint32_t wanted = type != IR_VOID;
    if (inst->n_results != wanted) {
        verify_report(v, "has %u results, must have %u", inst->n_results, wanted);
    } else if (wanted && inst->results && inst->results[0] && inst->results[0]->type != type) {
        verify_report(v, "the result is %s, must be %s", verify_type_text(v, inst->results[0]->type),
                      verify_type_text(v, type));
    }
}

/* A pipe of which both ends can be used is given to who uses one. */
static bool may_be_passed(ir_type type, ir_type param)
{
    bool both = ir_type_kind(type) == IR_KIND_PIPE && ir_type_handle_access(type) == IR_HANDLE_READ_WRITE;
    return type == param || (both && ir_type_kind(param) == IR_KIND_PIPE);
}

static void check_call(struct verifier *v, const struct ir_inst *inst)
{
    const struct ir_function *callee = inst->attrs.callee;
    if (!callee) return;
    const char *name = callee->name ? callee->name : "?";
    if (callee->linkage == IR_LINKAGE_KERNEL) verify_report(v, "calls %s, which is a kernel", name);
    check_call_result(v, inst, callee->result);
    if (inst->n_operands != callee->n_params) {
        verify_report(v, "passes %u arguments to %s, which has %u parameters", inst->n_operands, name,
                      callee->n_params);
        return;
    }
    for (uint32_t i = 0; callee->params && i < inst->n_operands; i++) {
        const struct ir_value *p = callee->params[i].value;
        if (p && !may_be_passed(inst->operands[i]->type, p->type))
            verify_report(v, "operand %u is %s, must be %s for %s", i, verify_type_text(v, inst->operands[i]->type),
                          verify_type_text(v, p->type), name);
    }
}

void verify_op(struct verifier *v, const struct ir_inst *inst)
{
    switch (inst->op) {
    case IR_OP_ITRUNC:
    case IR_OP_ZEXT:
    case IR_OP_SEXT:
    case IR_OP_SSAT:
    case IR_OP_USAT:
    case IR_OP_S2U_SAT:
    case IR_OP_U2S_SAT:
    case IR_OP_FPCONV:
    case IR_OP_FTOS:
    case IR_OP_FTOU:
    case IR_OP_STOF:
    case IR_OP_UTOF: check_conversion(v, inst); break;
    case IR_OP_BITCAST: check_bitcast(v, inst); break;
    case IR_OP_IEQ:
    case IR_OP_INE:
        if (ir_type_is_float(inst->type)) verify_report(v, "compares floats; foeq and its like do that");
        break;
    case IR_OP_PTRTOINT:
        if (ir_type_is_vector(inst->type)) verify_report(v, "makes a vector of one pointer");
        break;
    case IR_OP_DOT:
    case IR_OP_CROSS:
    case IR_OP_LENGTH:
    case IR_OP_DISTANCE:
    case IR_OP_NORMALIZE: check_geometric(v, inst); break;
    case IR_OP_VEC: check_vec(v, inst); break;
    case IR_OP_SHUFFLE: check_shuffle(v, inst); break;
    case IR_OP_SPACECAST: check_spacecast(v, inst); break;
    case IR_OP_VAR:
        if (inst->attrs.space != IR_SPACE_PRIVATE) verify_report(v, "is not in the private address space");
        break;
    case IR_OP_GLOBAL: check_global(v, inst); break;
    case IR_OP_FIELD: check_field(v, inst); break;
    case IR_OP_STORE:
    case IR_OP_COPY: check_writable(v, inst, 0); break;
    case IR_OP_ATOMIC_LOAD:
    case IR_OP_ATOMIC_STORE:
    case IR_OP_ATOMIC_XCHG:
    case IR_OP_ATOMIC_CMPXCHG:
    case IR_OP_ATOMIC_ADD:
    case IR_OP_ATOMIC_SUB:
    case IR_OP_ATOMIC_SMIN:
    case IR_OP_ATOMIC_UMIN:
    case IR_OP_ATOMIC_SMAX:
    case IR_OP_ATOMIC_UMAX:
    case IR_OP_ATOMIC_AND:
    case IR_OP_ATOMIC_OR:
    case IR_OP_ATOMIC_XOR:
    case IR_OP_ATOMIC_FADD:
    case IR_OP_ATOMIC_FMIN:
    case IR_OP_ATOMIC_FMAX:
    case IR_OP_ATOMIC_TEST_SET:
    case IR_OP_ATOMIC_CLEAR: check_atomic(v, inst); break;
    case IR_OP_BARRIER:
    case IR_OP_GROUP_ALL:
    case IR_OP_GROUP_ANY:
    case IR_OP_GROUP_BROADCAST: check_group_scope(v, inst); break;
    case IR_OP_GROUP_REDUCE:
    case IR_OP_GROUP_SCAN_INCL:
    case IR_OP_GROUP_SCAN_EXCL: check_group_op(v, inst); break;
    case IR_OP_BLOCK_READ:
    case IR_OP_BLOCK_WRITE: check_block_lanes(v, inst); break;
    case IR_OP_IMAGE_BLOCK_READ:
        check_block_lanes(v, inst);
        check_form(v, inst);
        check_access(v, inst, IR_HANDLE_WRITE);
        break;
    case IR_OP_IMAGE_BLOCK_WRITE:
        check_block_lanes(v, inst);
        check_form(v, inst);
        check_access(v, inst, IR_HANDLE_READ);
        break;
    case IR_OP_IMAGE_READ:
        check_texel(v, inst);
        check_access(v, inst, IR_HANDLE_WRITE);
        break;
    case IR_OP_IMAGE_WRITE:
        check_texel(v, inst);
        check_access(v, inst, IR_HANDLE_READ);
        break;
    case IR_OP_IMAGE_HEIGHT:
    case IR_OP_IMAGE_DEPTH:
    case IR_OP_IMAGE_ARRAY_SIZE: check_form(v, inst); break;
    case IR_OP_PIPE_READ:
    case IR_OP_PIPE_READ_WAIT:
    case IR_OP_PIPE_READ_AT:
        check_access(v, inst, IR_HANDLE_WRITE);
        check_writable(v, inst, 1);
        break;
    case IR_OP_PIPE_RESERVE_READ:
    case IR_OP_PIPE_COMMIT_READ: check_access(v, inst, IR_HANDLE_WRITE); break;
    case IR_OP_PIPE_WRITE:
    case IR_OP_PIPE_WRITE_WAIT:
    case IR_OP_PIPE_WRITE_AT:
    case IR_OP_PIPE_RESERVE_WRITE:
    case IR_OP_PIPE_COMMIT_WRITE: check_access(v, inst, IR_HANDLE_READ); break;
    case IR_OP_CALL: check_call(v, inst); break;
    case IR_OP_LOOP: check_loop(v, inst); break;
    case IR_OP_YIELD: check_yield(v, inst); break;
    case IR_OP_BREAK:
    case IR_OP_CONTINUE: check_loop_exit(v, inst); break;
    case IR_OP_RETURN: check_return(v, inst); break;
    default: break;
    }
}
