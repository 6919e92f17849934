/*
 * Packets of pipes that become values. Where each work-item puts and takes equally many, under the same conditions, the
 * first one that it takes is the first one that it has put, and so on: each has a variable.
 */
#include "fuser/merge/packets.h"

struct ir_value *packets_variable(const struct fuse *f, ir_type type)
{
    struct ir_builder b = ir_builder_before(f->kernel->body->first);
    return ir_build_ptr(&b, IR_OP_VAR, type, IR_SPACE_PRIVATE, NULL, 0)->results[0];
}

/* The variable that it is, however it is pointed at. */
static struct ir_value *address(struct ir_value *v)
{
    while (v->kind == IR_VALUE_RESULT && v->of.inst->op == IR_OP_SPACECAST) v = v->of.inst->operands[0];
    return v;
}

void packets_copy(struct ir_builder *b, ir_type type, struct ir_value *to, struct ir_value *from)
{
    struct ir_value *one = ir_const_int(b->module, IR_I64, 1);
    if (ir_type_is_number(type))
        ir_build_store(b, type, address(to), NULL, ir_build_load(b, type, address(from), NULL));
    else
        ir_build(b, IR_OP_COPY, type, (struct ir_value *[]){to, from, one}, 3);
}

/* ---- registers ---- */

struct registers {
    struct fuse *f;
    struct fuse_packets *packets;
    const struct ir_value *pipe;
    uint32_t at; /* of the part's packets */
    bool failed;
};

static struct ir_value *next_variable(struct registers *r, const struct ir_inst *inst, bool puts)
{
    struct fuse_packets *p = r->packets;
    if (puts && p->n < FUSE_MOST_PACKETS) p->variables[p->n++] = packets_variable(r->f, inst->type);
    return r->at < p->n ? p->variables[r->at++] : NULL;
}

static void replace_packet(struct ir_inst *inst, void *data)
{
    struct registers *r = data;
    bool puts = inst->op == IR_OP_PIPE_WRITE || inst->op == IR_OP_PIPE_WRITE_WAIT;
    bool takes = inst->op == IR_OP_PIPE_READ || inst->op == IR_OP_PIPE_READ_WAIT;
    if (!(puts || takes) || inst->operands[0] != r->pipe || r->failed) return;
    struct ir_value *variable = next_variable(r, inst, puts);
    if (!variable) {
        r->failed = true;
        return;
    }
    struct ir_builder b = ir_builder_before(inst);
    packets_copy(&b, inst->type, puts ? variable : inst->operands[1], puts ? inst->operands[1] : variable);
    if (inst->n_results) ir_replace_uses(r->f->kernel->body, inst->results[0], ir_const_int(r->f->module, IR_BOOL, 1));
    ir_inst_remove(inst);
}

bool packets_to_registers(struct fuse *f, uint32_t part)
{
    for (uint32_t i = 0; i < f->request->n_params; i++) {
        const struct fuse_param *p = &f->request->params[i];
        if (p->flow != FUSE_FLOW_REGISTERS || (p->producer != part && p->consumer != part)) continue;
        struct registers r = {.f = f, .packets = &f->packets[i], .pipe = f->targets[i]};
        ir_walk(f->kernel->body, replace_packet, &r);
        if (r.failed || r.at != r.packets->n)
            return fuse_refuse(f, "pipe %s: as many packets have to be put as taken, and at most %d", p->name,
                               FUSE_MOST_PACKETS);
    }
    return true;
}
