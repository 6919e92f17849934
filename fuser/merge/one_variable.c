/* Buffers that become private: what their accesses must look like, and their way to one variable. */
#include "fuser/merge/one_variable.h"

#include <stdlib.h>
#include <string.h>

#include "fuser/passes/util.h"
#include "ir/base/arena.h"

struct private
{
    struct fuse *f;
    const char *param;
    struct ir_value *pointer; /* the parameter */
    bool *is_address;         /* by number of a value: it is the parameter or an element's address */
    ir_type elem;
    bool failed;
};

static bool refuse(struct private *p, const struct ir_inst *inst, const char *what)
{
    p->failed = true;
    return fuse_refuse(p->f, "kernel %s, line %u: %s %s %s, which is to become private", p->f->part, inst->loc.line,
                       ir_op_info(inst->op)->text, what, p->param);
}

static bool is_address(const struct private *p, const struct ir_value *v)
{
    return p->is_address[v->scratch];
}

static bool uses_address(const struct private *p, const struct ir_inst *inst)
{
    for (uint32_t i = 0; i < inst->n_operands; i++)
        if (is_address(p, inst->operands[i])) return true;
    return false;
}

static void rewrite_access(struct private *p, struct ir_inst *inst)
{
    if (inst->op == IR_OP_STORE && is_address(p, inst->operands[1])) {
        refuse(p, inst, "keeps the address of");
    } else if (inst->attrs.is_volatile) {
        refuse(p, inst, "is volatile and touches");
    } else if (!pass_same_bits(inst->type, p->elem)) {
        refuse(p, inst, "does not touch a whole element of");
    } else {
        inst->operands[0] = p->pointer;
    }
}

/* An element's address goes before its uses are met: the walk comes to them later. */
static void rewrite_use(struct ir_inst *inst, void *data)
{
    struct private *p = data;
    if (p->failed || !uses_address(p, inst)) return;
    switch (inst->op) {
    case IR_OP_LOAD:
    case IR_OP_STORE: rewrite_access(p, inst); break;
    case IR_OP_PREFETCH: ir_inst_remove(inst); break;
    case IR_OP_ELEM:
        if (!pass_same_bits(inst->type, p->elem)) {
            refuse(p, inst, "has another element type than");
            return;
        }
        p->is_address[inst->results[0]->scratch] = true;
        ir_inst_remove(inst);
        break;
    default: refuse(p, inst, "is neither a load nor a store of"); break;
    }
}

bool one_variable_rewrite(struct fuse *f, struct ir_function *copy, uint32_t i, ir_type elem)
{
    struct ir_value *pointer = copy->params[i].value;
    struct private p = {.f = f, .pointer = pointer, .elem = elem};
    p.param = pointer->name ? pointer->name : "a parameter";
    if (!ir_type_is_number(elem) && !ir_type_is_ptr(elem))
        return fuse_refuse(f, "elements of %s are no numbers or vectors, and cannot become private", p.param);
    uint32_t n = pass_number(copy);
    p.is_address = memset(arena_realloc(NULL, n), 0, n);
    p.is_address[pointer->scratch] = true;
    ir_walk(copy->body, rewrite_use, &p);
    free(p.is_address);
    return !p.failed;
}
