/*
 * A part that takes packets which a loop of another part puts into a pipe: where it takes one, the loop goes on by a
 * round, and the packet is a value. The loop carries its numbers from one place to the next in variables, which the
 * passes make values; it stands behind the part that takes, for what is left of it then.
 *
 *     loop (i = 0) { ...; write(p, x) }          i = 0
 *     loop { y = read(p); ... }                  loop { if (packets of before) y = read(p)
 *                                                       else if (goes on) { ...; y = x; i = next } else y = read(p);
 * ... } if (goes on) loop (i) { ...; write(p, x) }
 *
 * So nothing needs to be known of how many packets there are: what was in the pipe comes first, who takes more than are
 * put waits at the pipe, and what nobody takes is in it after.
 */
#include "fuser/merge/pull.h"

#include <stdlib.h>
#include <string.h>

#include "fuser/merge/packets.h"
#include "fuser/passes/loops/copy_insts.h"
#include "fuser/passes/loops/equal_loops.h"
#include "fuser/passes/util.h"
#include "ir/base/arena.h"

enum { MOST_READS = 4, MOST_OPERATIONS = 16384 }; /* of the kernel, with a round wherever a packet is taken */

struct pull {
    struct fuse *f;
    const char *name;
    struct ir_value *pipe;
    struct ir_inst *write, *reads[MOST_READS];
    uint32_t n_writes, n_reads;
    bool others; /* something else is done with the pipe */
    struct tested_loop loop;
    bool perhaps;          /* a round may put none */
    struct ir_inst *rest;  /* what stands behind the part that takes begins here */
    struct pass_copy copy; /* of a round */
    /* variables */
    struct ir_value **carried, **results; /* by the loop's parameter, and by its result */
    struct ir_value *goes_on;             /* the loop has begun, and has not been left */
    struct ir_value *before;              /* packets that were in the pipe when it began, and are not taken yet */
    struct ir_value *has;                 /* a round has put a packet */
};

static bool refuse(const struct pull *p, const char *why)
{
    return fuse_refuse(p->f, "pipe %s: %s", p->name, why);
}

/* ---- who puts, who takes ---- */

static void see_use(struct ir_inst *inst, void *data)
{
    struct pull *p = data;
    for (uint32_t i = 0; i < inst->n_operands; i++) {
        if (inst->operands[i] != p->pipe) continue;
        if (inst->op == IR_OP_PIPE_WRITE_WAIT) {
            p->write = inst;
            p->n_writes++;
        } else if (inst->op == IR_OP_PIPE_READ_WAIT && p->n_reads < MOST_READS) {
            p->reads[p->n_reads++] = inst;
        } else if (inst->op != IR_OP_PIPE_MAX_PACKETS) {
            p->others = true;
        }
    }
}

static struct ir_inst *loop_around(const struct ir_inst *inst)
{
    struct ir_inst *outer = inst->parent->parent;
    while (outer && outer->op != IR_OP_LOOP) outer = outer->parent->parent;
    return outer;
}

static bool find_loop(struct pull *p)
{
    ir_walk(p->f->kernel->body, see_use, p);
    if (p->n_writes != 1 || p->others) return refuse(p, "its packets are put in one place and taken in few");
    for (uint32_t i = 0; i < p->n_reads; i++)
        if (p->reads[i]->type != p->write->type) return refuse(p, "packets are taken as another type");
    struct ir_inst *loop = loop_around(p->write);
    if (!loop || loop_around(loop) || !tested_loop_read(loop, &p->loop))
        return refuse(p, "its packets are not put by rounds of a loop with one way out");
    p->perhaps = p->write->parent != p->loop.body;
    uint64_t more = (uint64_t)p->n_reads * ir_count(p->loop.body);
    return more + ir_count(p->f->kernel->body) <= MOST_OPERATIONS ||
           refuse(p, "what is done to put a packet, wherever one is taken, is too long");
}

/* ---- variables ---- */

static struct ir_value *flag(const struct pull *p, bool value)
{
    return ir_const_int(p->f->module, IR_BOOL, value);
}

static struct ir_value *count(const struct pull *p, uint32_t n)
{
    return ir_const_int(p->f->module, IR_I32, n);
}

static void make_variables(struct pull *p)
{
    const struct ir_inst *loop = p->loop.loop;
    struct ir_block *body = p->f->kernel->body;
    struct ir_inst *first = body->first;
    p->carried = ir_alloc(p->f->module, (p->loop.body->n_args + 1) * sizeof(*p->carried));
    p->results = ir_alloc(p->f->module, (loop->n_results + 1) * sizeof(*p->results));
    for (uint32_t i = 0; i < p->loop.body->n_args; i++)
        p->carried[i] = packets_variable(p->f, p->loop.body->args[i]->type);
    for (uint32_t i = 0; i < loop->n_results; i++) p->results[i] = packets_variable(p->f, loop->results[i]->type);
    p->goes_on = packets_variable(p->f, IR_BOOL);
    p->before = packets_variable(p->f, IR_I32);
    p->has = packets_variable(p->f, IR_BOOL);
    struct ir_builder b = ir_builder_before(first);
    ir_build_store(&b, IR_BOOL, p->goes_on, NULL, flag(p, false));
    ir_build_store(&b, IR_I32, p->before, NULL, count(p, 0));
}

static void end_blocks(struct ir_inst *branch)
{
    for (unsigned i = 0; i < 2; i++) {
        struct ir_builder b = ir_builder_at_end(branch->blocks[i]);
        ir_build(&b, IR_OP_YIELD, IR_VOID, NULL, 0);
    }
}

/* ---- the loop: where it begins, and what is left of it ---- */

static void begin_loop(struct pull *p)
{
    struct ir_inst *loop = p->loop.loop;
    struct ir_builder b = ir_builder_before(loop);
    for (uint32_t i = 0; i < loop->n_operands; i++)
        ir_build_store(&b, loop->operands[i]->type, p->carried[i], NULL, loop->operands[i]);
    ir_build_store(&b, IR_BOOL, p->goes_on, NULL, flag(p, true));
    struct ir_value *packets = ir_build1(&b, IR_OP_PIPE_NUM_PACKETS, IR_VOID, p->pipe);
    ir_build_store(&b, IR_I32, p->before, NULL, packets);
}

/* The loop behind a test whether it goes on, from where it is then. */
static void leave_rest(struct pull *p)
{
    struct ir_inst *loop = p->loop.loop;
    struct ir_builder b = ir_builder_before(loop);
    struct ir_value *goes_on = ir_build_load(&b, IR_BOOL, p->goes_on, NULL);
    p->rest = goes_on->of.inst;
    struct ir_inst *branch = ir_build_if(&b, goes_on, NULL, 0);
    end_blocks(branch);
    for (uint32_t i = 0; i < loop->n_results; i++) {
        struct ir_value *result = ir_build_load(&b, loop->results[i]->type, p->results[i], NULL);
        ir_replace_uses(p->f->kernel->body, loop->results[i], result);
    }
    ir_inst_move_before(loop, branch->blocks[0]->last);
    b = ir_builder_before(loop);
    for (uint32_t i = 0; i < loop->n_operands; i++)
        loop->operands[i] = ir_build_load(&b, loop->operands[i]->type, p->carried[i], NULL);
    b = ir_builder_before(branch->blocks[0]->last);
    for (uint32_t i = 0; i < loop->n_results; i++)
        ir_build_store(&b, loop->results[i]->type, p->results[i], NULL, loop->results[i]);
    struct ir_value *packet = packets_variable(p->f, p->write->type);
    b = ir_builder_before(p->write);
    packets_copy(&b, p->write->type, packet, p->write->operands[1]);
    p->write->operands[1] = packet;
}

/* What is made before the rest and used by it goes through a variable. */
static void hand_over(const struct pull *p, const struct ir_inst *made, struct ir_block *to)
{
    for (uint32_t i = 0; i < made->n_results; i++) {
        struct ir_value *v = made->results[i], *kept = packets_variable(p->f, v->type);
        struct ir_builder in = ir_builder_before(made->next), out = ir_builder_before(to->first);
        ir_replace_uses(to, v, ir_build_load(&out, v->type, kept, NULL));
        ir_build_store(&in, v->type, kept, NULL, v);
    }
}

static bool may_move_before(const struct ir_inst *inst, const struct ir_inst *branch)
{
    for (uint32_t i = 0; i < inst->n_operands; i++)
        if (pass_is_inside(inst->operands[i], branch)) return false;
    return inst->op == IR_OP_VAR || (pass_is_pure(inst) && !(ir_op_info(inst->op)->flags & IR_FLAG_PARTIAL));
}

/* The if that the rest is in becomes two: one for what comes before it, and one from it on. */
static void split_if(struct pull *p)
{
    struct ir_block *block = p->rest->parent;
    struct ir_inst *second = block->parent;
    unsigned side = second->blocks[1] == block;
    struct ir_builder b = ir_builder_before(second);
    struct ir_inst *first = ir_build_if(&b, second->operands[0], NULL, 0);
    end_blocks(first);
    while (block->first != p->rest) {
        struct ir_inst *inst = block->first;
        ir_inst_move_before(inst, may_move_before(inst, first) ? first : first->blocks[side]->last);
    }
    for (struct ir_inst *inst = first->blocks[side]->first, *next; inst->next; inst = next) {
        next = inst->next;
        hand_over(p, inst, block);
    }
    p->rest = second;
}

/* The rest, and what its part does after it, comes after the part that takes. */
static void move_rest(struct pull *p, const struct ir_inst *end)
{
    struct ir_block *body = p->f->kernel->body;
    struct ir_builder b = ir_builder_at_end(body);
    struct ir_inst *mark = ir_build(&b, IR_OP_RETURN, IR_VOID, NULL, 0);
    for (struct ir_inst *inst = p->rest, *next; inst != end && inst != mark; inst = next) {
        next = inst->next;
        ir_inst_move_before(inst, mark);
    }
    ir_inst_remove(mark);
}

/* ---- where packets are taken ---- */

struct placing {
    const struct pull *p;
    struct ir_value *to;
};

/* The copy of the loop's write: the packet goes to who takes it. */
static void place_packet(struct ir_inst *inst, void *data)
{
    const struct placing *placing = data;
    const struct pull *p = placing->p;
    if (inst->op != IR_OP_PIPE_WRITE_WAIT || inst->operands[0] != p->pipe) return;
    struct ir_builder b = ir_builder_before(inst);
    packets_copy(&b, p->write->type, placing->to, inst->operands[1]);
    ir_build_store(&b, IR_BOOL, p->has, NULL, flag(p, true));
    ir_inst_remove(inst);
}

static void store_all(struct pull *p, struct ir_builder *b, struct ir_value **to, const struct ir_inst *exit)
{
    struct ir_value **values = pass_copy_operands(&p->copy, exit);
    for (uint32_t i = 0; i < exit->n_operands; i++) ir_build_store(b, exit->operands[i]->type, to[i], NULL, values[i]);
}

/* What is between the test and the end of a round, where it ends so. */
static void copy_end(struct pull *p, struct ir_builder *b, const struct ir_inst *exit)
{
    if (p->loop.body->last == exit) pass_copy_insts(&p->copy, b, p->loop.test->next, exit);
}

static void copy_round(struct pull *p, struct ir_builder *b)
{
    const struct tested_loop *l = &p->loop;
    for (uint32_t i = 0; i < l->body->n_args; i++)
        p->copy.to[l->body->args[i]->scratch] = ir_build_load(b, l->body->args[i]->type, p->carried[i], NULL);
    pass_copy_insts(&p->copy, b, l->body->first, l->test);
    struct ir_value *condition = pass_copy_operands(&p->copy, l->test)[0];
    struct ir_inst *test = ir_build_if(b, condition, NULL, 0);
    end_blocks(test);
    struct ir_builder on = ir_builder_before(test->blocks[!l->goes_on]->last);
    struct ir_builder out = ir_builder_before(test->blocks[l->goes_on]->last);
    copy_end(p, &on, l->next);
    store_all(p, &on, p->carried, l->next);
    copy_end(p, &out, l->out);
    store_all(p, &out, p->results, l->out);
    ir_build_store(&out, IR_BOOL, p->goes_on, NULL, flag(p, false));
}

/* A round is to come: the loop goes on, and all packets of before are taken. */
static struct ir_value *is_next(const struct pull *p, struct ir_builder *b)
{
    struct ir_value *before = ir_build_load(b, IR_I32, p->before, NULL);
    struct ir_value *none = ir_build2(b, IR_OP_IEQ, IR_I32, before, count(p, 0));
    return ir_build2(b, IR_OP_AND, IR_BOOL, ir_build_load(b, IR_BOOL, p->goes_on, NULL), none);
}

static struct ir_inst *build_round(struct pull *p, struct ir_builder *b)
{
    struct ir_inst *branch = ir_build_if(b, is_next(p, b), NULL, 0);
    end_blocks(branch);
    struct ir_builder in = ir_builder_before(branch->blocks[0]->last);
    copy_round(p, &in);
    return branch;
}

/* Rounds until one has put a packet. */
static struct ir_inst *build_rounds(struct pull *p, struct ir_builder *b)
{
    struct ir_inst *loop = ir_build_loop(b, NULL, 0, NULL, 0);
    struct ir_builder in = ir_builder_at_end(loop->blocks[0]);
    struct ir_value *none = ir_build1(&in, IR_OP_NOT, IR_BOOL, ir_build_load(&in, IR_BOOL, p->has, NULL));
    struct ir_inst *test = ir_build_if(&in, ir_build2(&in, IR_OP_AND, IR_BOOL, none, is_next(p, &in)), NULL, 0);
    struct ir_builder on = ir_builder_at_end(test->blocks[0]), out = ir_builder_at_end(test->blocks[1]);
    copy_round(p, &on);
    ir_build(&on, IR_OP_YIELD, IR_VOID, NULL, 0);
    ir_build(&out, IR_OP_BREAK, IR_VOID, NULL, 0);
    ir_build(&in, IR_OP_CONTINUE, IR_VOID, NULL, 0);
    return loop;
}

/* Of the pipe itself. */
static void read_pipe(const struct pull *p, struct ir_builder *b, const struct ir_inst *read)
{
    struct ir_value *packet = packets_variable(p->f, read->type);
    ir_build(b, IR_OP_PIPE_READ_WAIT, read->type, (struct ir_value *[]){p->pipe, packet}, 2);
    packets_copy(b, p->write->type, read->operands[1], packet);
    struct ir_value *before = ir_build_load(b, IR_I32, p->before, NULL);
    struct ir_value *some = ir_build2(b, IR_OP_INE, IR_I32, before, count(p, 0));
    struct ir_value *less = ir_build2(b, IR_OP_SUB, IR_I32, before, count(p, 1));
    ir_build_store(b, IR_I32, p->before, NULL, ir_build3(b, IR_OP_SELECT, IR_I32, some, less, before));
}

static void take_packet(struct pull *p, struct ir_inst *read)
{
    struct ir_builder b = ir_builder_before(read);
    struct placing placing = {p, read->operands[1]};
    b.loc = read->loc;
    ir_build_store(&b, IR_BOOL, p->has, NULL, flag(p, false));
    struct ir_inst *round = p->perhaps ? build_rounds(p, &b) : build_round(p, &b);
    for (unsigned i = 0; i < 2; i++)
        if (round->blocks[i]) ir_walk(round->blocks[i], place_packet, &placing);
    struct ir_inst *branch = ir_build_if(&b, ir_build_load(&b, IR_BOOL, p->has, NULL), NULL, 0);
    end_blocks(branch);
    struct ir_builder in = ir_builder_before(branch->blocks[1]->last);
    in.loc = read->loc;
    read_pipe(p, &in, read);
    ir_inst_remove(read);
}

/* ---- one pipe ---- */

static bool pull_pipe(struct fuse *f, uint32_t param)
{
    const struct fuse_param *of = &f->request->params[param];
    struct pull p = {.f = f, .name = of->name, .pipe = f->targets[param]};
    if (!find_loop(&p)) return false;
    uint32_t n = pass_number(f->kernel);
    p.copy.to = memset(arena_realloc(NULL, n * sizeof *p.copy.to), 0, n * sizeof *p.copy.to);
    make_variables(&p);
    for (uint32_t i = 0; i < p.n_reads; i++) take_packet(&p, p.reads[i]);
    free(p.copy.to);
    const struct ir_inst *end = f->ends[of->producer]->next;
    begin_loop(&p);
    leave_rest(&p);
    while (p.rest->parent != f->kernel->body) split_if(&p);
    move_rest(&p, end);
    return true;
}

bool pull_packets(struct fuse *f, uint32_t part)
{
    for (uint32_t i = 0; i < f->request->n_params; i++) {
        const struct fuse_param *p = &f->request->params[i];
        if (p->flow == FUSE_FLOW_PULLED && p->consumer == part && !pull_pipe(f, i)) return false;
    }
    return true;
}
