/* Runs one work-item: frames, structured control flow, calls. A work-item that comes to an operation
   that others must come to as well stops there, and is put behind it when they have. */
#include "ir/interp/exec.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "ir/core/facts.h"
#include "ir/eval/eval.h"
#include "ir/interp/access.h"
#include "ir/interp/frame.h"
#include "ir/interp/ids.h"
#include "ir/interp/image.h"
#include "ir/interp/memory.h"
#include "ir/interp/memory_access.h"
#include "ir/interp/pipe.h"
#include "ir/interp/printf.h"
#include "ir/interp/report.h"
#include "ir/verify/limits.h"

static void stop_machine(struct machine *m, enum interp_finding_kind kind, const struct item *item,
                         const struct code_inst *at, const char *why)
{
    interp_report(m, kind, item, at, "%s", why);
    m->stopped = true;
}

/* ---- frames ---- */

static void make_room(struct item *item, uint32_t slots)
{
    if (item->n_frames == item->frame_capacity) {
        item->frame_capacity = item->frame_capacity ? item->frame_capacity * 2 : 4;
        item->frames = arena_realloc(item->frames, item->frame_capacity * sizeof *item->frames);
    }
    if (!item->slots || item->n_slots + slots > item->slot_capacity) {
        item->slot_capacity = (item->n_slots + slots) * 2 + 1;
        item->slots = arena_realloc(item->slots, item->slot_capacity * sizeof *item->slots);
    }
}

static bool push_frame(struct machine *m, struct item *item, const struct code_function *f)
{
    uint8_t *bytes = NULL;
    if (f->n_vars) {
        bytes = f->private_bytes <= MAX_OWN_MEMORY ? calloc(2, f->private_bytes) : NULL;
        if (!bytes) {
            interp_report(m, INTERP_LIMIT, item, NULL,
                          "no memory for the %" PRIu64 " bytes of variables of function `%s`", f->private_bytes,
                          f->ir->name);
            m->stopped = true;
            return false;
        }
    }
    make_room(item, f->n_slots);
    struct frame *frame = &item->frames[item->n_frames++];
    *frame = (struct frame){.function = f, .pc = f->body->insts, .base = item->n_slots, .bytes = bytes};
    item->n_slots += f->n_slots;
    memset(item->slots + frame->base, 0, f->n_slots * sizeof *item->slots);
    return true;
}

static void pop_frame(struct machine *m, struct item *item)
{
    struct frame *frame = interp_item_frame(item);
    const struct code_function *f = frame->function;
    for (uint32_t i = 0; i < f->n_vars; i++) {
        uint64_t address = *interp_item_slot(item, f->vars[i].slot);
        if (address) interp_memory_end(&m->memory, address);
    }
    free(frame->bytes);
    item->n_slots -= f->n_slots;
    item->n_frames--;
}

/* Each run of the instruction gives the same memory, its bytes unwritten again. */
static uint64_t open_var(struct machine *m, struct item *item, const struct code_inst *at, const struct code_var *var)
{
    struct frame *frame = interp_item_frame(item);
    uint64_t *address = interp_item_slot(item, var->slot);
    struct allocation a = {.data = frame->bytes + var->offset,
                           .size = var->size,
                           .space = IR_SPACE_PRIVATE,
                           .owner = item->number,
                           .origin = MEMORY_VARIABLE,
                           .name = var->name,
                           .function = frame->function->ir->name};
    uint8_t *written = a.data + frame->function->private_bytes;
    if (m->options.check_unwritten) {
        a.written = written;
        memset(written, 0, var->size);
    }
    if (*address == 0) *address = interp_memory_add(&m->memory, &a);
    if (*address == 0)
        stop_machine(m, INTERP_LIMIT, item, at, "more variables are alive than the interpreter has addresses for");
    return *address;
}

/* Copies for the by-value parameters of the frame on top; sources are bytes, or NULL where a copy failed. */
static bool open_by_value(struct machine *m, struct item *item, const uint8_t *const *sources)
{
    const struct code_function *f = interp_item_frame(item)->function;
    for (uint32_t i = 0; i < f->n_vars; i++) {
        const struct code_var *var = &f->vars[i];
        if (var->param == UINT32_MAX) continue;
        uint64_t address = open_var(m, item, NULL, var);
        if (!address) return false;
        struct allocation *a = interp_memory_find(&m->memory, address);
        if (sources[var->param]) memcpy(a->data, sources[var->param], var->size);
        if (a->written) memset(a->written, 1, var->size);
        *interp_item_slot(item, f->params[var->param]) = address;
    }
    return true;
}

/* Work-items that wait for nobody run one after the other in the same memory. */
static void take_over(struct machine *m, struct item *item)
{
    struct item *done = m->done;
    if (done == item) m->done = NULL; /* of the group before */
    if (!m->done || item->slots) return;
    item->slots = done->slots;
    item->slot_capacity = done->slot_capacity;
    item->frames = done->frames;
    item->frame_capacity = done->frame_capacity;
    done->slots = NULL;
    done->frames = NULL;
    done->slot_capacity = done->frame_capacity = 0;
    m->done = NULL;
}

bool interp_item_start(struct machine *m, struct item *item)
{
    const struct code_function *f = m->entry;
    take_over(m, item);
    if (!push_frame(m, item, f)) return false;
    const uint8_t **sources = m->by_value;
    for (uint32_t i = 0; i < f->ir->n_params; i++) {
        const struct ir_param *p = &f->ir->params[i];
        sources[i] = p->by_value ? m->args[i].data : NULL;
        memcpy(interp_item_slot(item, f->params[i]), m->arg_values + (size_t)i * IR_MAX_LANES,
               ir_type_lanes(p->value->type) * sizeof(uint64_t));
    }
    item->state = ITEM_RUNNING;
    return open_by_value(m, item, sources);
}

void interp_item_clear(struct machine *m, struct item *item)
{
    while (item->n_frames) pop_frame(m, item);
    free(item->frames);
    free(item->slots);
    item->frames = NULL;
    item->slots = NULL;
    item->frame_capacity = item->slot_capacity = item->n_slots = 0;
}

/* ---- control flow ---- */

/* The operands of at on their way: they are read all before one is written, since a loop's new values
   may be its old ones in another order. */
static void take_values(struct machine *m, const struct item *item, const struct code_inst *at, uint32_t first)
{
    uint64_t *to = m->words;
    for (uint32_t i = first; i < at->ir->n_operands; i++) {
        unsigned lanes = ir_type_lanes(at->ir->operands[i]->type);
        memcpy(to, interp_item_value(item, &at->operands[i]), lanes * sizeof *to);
        to += lanes;
    }
}

static void give_values(struct machine *m, const struct item *item, struct ir_value *const *values,
                        const uint32_t *slots, uint32_t n)
{
    const uint64_t *from = m->words;
    for (uint32_t i = 0; i < n; i++) {
        unsigned lanes = ir_type_lanes(values[i]->type);
        memcpy(interp_item_slot(item, slots[i]), from, lanes * sizeof *from);
        from += lanes;
    }
}

static void enter_loop(struct machine *m, struct item *item, const struct code_inst *loop, uint64_t round)
{
    struct code_block *body = loop->blocks[0];
    give_values(m, item, loop->ir->blocks[0]->args, body->args, loop->ir->blocks[0]->n_args);
    *interp_item_slot(item, loop->round) = round;
    interp_item_frame(item)->pc = body->insts;
}

/* Leaves the if or loop with the values on their way as its results. */
static void leave_block(struct machine *m, struct item *item, const struct code_inst *construct)
{
    give_values(m, item, construct->ir->results, construct->results, construct->ir->n_results);
    interp_item_frame(item)->pc = construct + 1;
}

static void do_call(struct machine *m, struct item *item, const struct code_inst *at)
{
    const struct code_function *f = at->callee;
    if (!f->body) {
        interp_report(m, INTERP_INVALID, item, at, "call of function `%s`, which is imported and has no body",
                      f->ir->name);
        m->stopped = true;
        return;
    }
    if (item->n_frames > IR_MAX_CALL_DEPTH) {
        stop_machine(m, INTERP_LIMIT, item, at, "calls are nested deeper than any valid module has them");
        return;
    }
    take_values(m, item, at, 0);
    const uint64_t *word = m->words;
    for (uint32_t i = 0; i < f->ir->n_params; i++) {
        const struct ir_param *p = &f->ir->params[i];
        m->by_value[i] = NULL;
        if (p->by_value) {
            struct access a = {*word, ir_type_size(m->module, p->elem), IR_SPACE_PRIVATE,
                               1,     ACCESS_READ | ACCESS_COPY,        NULL};
            m->by_value[i] = interp_memory_access(m, item, at, &a);
        }
        word += ir_type_lanes(p->value->type);
    }
    if (!push_frame(m, item, f)) return;
    word = m->words;
    for (uint32_t i = 0; i < f->ir->n_params; i++) {
        unsigned lanes = ir_type_lanes(f->ir->params[i].value->type);
        memcpy(interp_item_slot(item, f->params[i]), word, lanes * sizeof *word);
        word += lanes;
    }
    open_by_value(m, item, m->by_value);
}

static void do_return(struct machine *m, struct item *item, const struct code_inst *at)
{
    take_values(m, item, at, 0);
    pop_frame(m, item);
    if (item->n_frames == 0) {
        item->state = ITEM_DONE;
        m->done = item;
        return;
    }
    leave_block(m, item, interp_item_frame(item)->pc);
}

static bool exec_control(struct machine *m, struct item *item, const struct code_inst *at)
{
    struct frame *frame = interp_item_frame(item);
    switch (at->ir->op) {
    case IR_OP_IF: frame->pc = at->blocks[interp_item_value(item, &at->operands[0])[0] ? 0 : 1]->insts; return true;
    case IR_OP_LOOP:
        take_values(m, item, at, 0);
        enter_loop(m, item, at, 0);
        return true;
    case IR_OP_CONTINUE:
        take_values(m, item, at, 0);
        enter_loop(m, item, at->target, *interp_item_slot(item, at->target->round) + 1);
        return true;
    case IR_OP_YIELD:
    case IR_OP_BREAK:
        take_values(m, item, at, 0);
        leave_block(m, item, at->target);
        return true;
    case IR_OP_CALL: do_call(m, item, at); return true;
    case IR_OP_RETURN: do_return(m, item, at); return true;
    case IR_OP_UNREACHABLE: stop_machine(m, INTERP_INVALID, item, at, "control came to unreachable"); return true;
    default: return false;
    }
}

/* ---- single instructions ---- */

static void check_division(struct machine *m, struct item *item, const struct code_inst *at)
{
    if (m->options.tolerant || at->ir->op < IR_OP_UDIV || at->ir->op > IR_OP_SMOD) return;
    const uint64_t *divisor = interp_item_value(item, &at->operands[1]);
    for (unsigned lane = 0; lane < ir_type_lanes(at->ir->type); lane++) {
        if (divisor[lane]) continue;
        interp_report(m, INTERP_DIVISION, item, at, "%s by zero in lane %u", ir_op_info(at->ir->op)->text, lane);
        return;
    }
}

/* Pointers are equal where the memory is: two arguments may be the same buffer. */
static bool compares_pointers(const struct ir_inst *inst)
{
    return (inst->op == IR_OP_IEQ || inst->op == IR_OP_INE) && ir_type_is_ptr(inst->type);
}

static bool exec_pure(struct machine *m, struct item *item, const struct code_inst *at, uint64_t *r)
{
    const uint64_t *operands[IR_MAX_LANES];
    uint64_t places[2];
    if (at->ir->n_operands > IR_MAX_LANES) return false;
    for (uint32_t i = 0; i < at->ir->n_operands; i++) operands[i] = interp_item_value(item, &at->operands[i]);
    for (uint32_t i = 0; compares_pointers(at->ir) && i < 2; i++) {
        places[i] = interp_memory_place(&m->memory, operands[i][0]);
        operands[i] = &places[i];
    }
    if (!ir_eval(at->ir, operands, r)) return false;
    check_division(m, item, at);
    return true;
}

static void exec_step(struct machine *m, struct item *item)
{
    const struct code_inst *at = interp_item_frame(item)->pc;
    if (++m->result->steps > m->options.max_steps) {
        interp_report(m, INTERP_LIMIT, item, at, "the limit of %" PRIu64 " steps is reached", m->options.max_steps);
        m->stopped = true;
        return;
    }
    if (ir_is_convergent(at->ir)) {
        item->state = ITEM_WAITING;
        return;
    }
    if (exec_control(m, item, at)) return;
    if (at->ir->op == IR_OP_VAR) {
        *interp_item_slot(item, at->results[0]) =
            open_var(m, item, at, &interp_item_frame(item)->function->vars[at->var]);
        interp_item_frame(item)->pc++;
        return;
    }
    uint64_t r[IR_MAX_LANES] = {0};
    if (!exec_pure(m, item, at, r) && !interp_item_query(m, item, at->ir, r) && !interp_access_exec(m, item, at, r) &&
        !interp_image_exec(m, item, at, r) && !interp_pipe_exec(m, item, at, r) &&
        !interp_printf_exec(m, item, at, r)) {
        interp_report(m, INTERP_INVALID, item, at, "the interpreter does not know operation %s",
                      ir_op_info(at->ir->op)->text);
        m->stopped = true;
        return;
    }
    if (at->ir->n_results)
        memcpy(interp_item_slot(item, at->results[0]), r, ir_type_lanes(at->ir->results[0]->type) * sizeof *r);
    interp_item_frame(item)->pc++;
}

void interp_item_run(struct machine *m, struct item *item)
{
    while (item->state == ITEM_RUNNING && !m->stopped) exec_step(m, item);
}
