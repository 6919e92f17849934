/*
 * Images, samplers and pipes as memory. An image and a pipe are the address of a record (fuser/spirv/abi), a
 * sampler is its bits, and each operation is a call of the library (fuser/spirv/library).
 */
#include "fuser/spirv/handles.h"

#include <stddef.h>
#include <stdlib.h>

#include "fuser/spirv/abi/image.h"
#include "fuser/spirv/abi/pipe.h"
#include "fuser/spirv/library/library.h"
#include "ir/base/arena.h"

enum { SAMPLER_BITS = 0xffff }; /* the rest of a sampler's word may hold anything */

/* ---- building ---- */

static struct ir_value *number(struct ir_builder *b, ir_type t, uint64_t v)
{
    return ir_const_int(b->module, t, v);
}

/* NULL where the function gives nothing. */
static struct ir_value *call(struct ir_builder *b, const char *name, struct ir_value *const *operands, uint32_t n)
{
    struct ir_inst *inst = ir_build_call(b, spirv_library_function(b->module, name), operands, n);
    return inst->n_results ? inst->results[0] : NULL;
}

static struct ir_value *lane(struct ir_builder *b, struct ir_value *v, unsigned i)
{
    if (!ir_type_is_vector(v->type)) return v;
    struct ir_value *operands[2] = {v, number(b, IR_I32, i)};
    return ir_build(b, IR_OP_EXTRACT, v->type, operands, 2)->results[0];
}

static struct ir_value *as_bits(struct ir_builder *b, struct ir_value *v)
{
    ir_type bits = ir_type_with_lanes(IR_I32, ir_type_lanes(v->type));
    return ir_type_is_float(v->type) ? ir_build1(b, IR_OP_BITCAST, bits, v) : v;
}

/* ---- texels ---- */

struct texel {
    enum ir_image_form form;
    unsigned filtered; /* coordinates that are not a layer */
    struct ir_value *place[3];
};

static struct texel texel_of(struct ir_builder *b, const struct ir_inst *inst)
{
    struct texel t = {.form = ir_type_image_form(inst->operands[0]->type)};
    unsigned n = ir_image_coordinates(t.form);
    bool layers = ir_image_is_array(t.form);
    t.filtered = n - layers;
    for (unsigned i = 0; i < 3; i++) t.place[i] = number(b, IR_I32, 0);
    for (unsigned i = 0; i < n; i++) t.place[layers && i == n - 1 ? 2 : i] = as_bits(b, lane(b, inst->operands[1], i));
    return t;
}

static uint64_t mode_of(const struct ir_inst *inst)
{
    return (ir_type_is_int(inst->type) ? SPIRV_TEXEL_INTS : 0) |
           (ir_type_is_float(inst->operands[1]->type) ? SPIRV_TEXEL_FLOATS : 0);
}

static struct ir_value *read_texel(struct ir_builder *b, const struct ir_inst *inst)
{
    struct texel t = texel_of(b, inst);
    struct ir_value *mode = number(b, IR_I32, mode_of(inst)), *image = inst->operands[0], *rgba;
    if (inst->n_operands > 2) {
        struct ir_value *bits = ir_build1(b, IR_OP_ITRUNC, IR_I32, inst->operands[2]);
        bits = ir_build2(b, IR_OP_AND, IR_I32, bits, number(b, IR_I32, SAMPLER_BITS));
        mode = ir_build2(b, IR_OP_OR, IR_I32, bits, mode);
        struct ir_value *operands[] = {image,      mode,      number(b, IR_I32, t.filtered), NULL, t.place[0],
                                       t.place[1], t.place[2]};
        operands[3] = ir_const_bool(b->module, ir_image_is_array(t.form));
        rgba = call(b, "image_sample", operands, 7);
    } else {
        struct ir_value *operands[] = {image, mode, t.place[0], t.place[1], t.place[2]};
        rgba = call(b, "image_read", operands, 5);
    }
    return ir_type_is_float(inst->type) ? ir_build1(b, IR_OP_BITCAST, inst->type, rgba) : rgba;
}

static void write_texel(struct ir_builder *b, const struct ir_inst *inst)
{
    struct texel t = texel_of(b, inst);
    struct ir_value *operands[] = {inst->operands[0], number(b, IR_I32, mode_of(inst)), t.place[0], t.place[1],
                                   t.place[2],        as_bits(b, inst->operands[2])};
    call(b, "image_write", operands, 6);
}

/* ---- blocks: number k of a work-item lies in row y + k, those of a sub-group side by side ---- */

static struct ir_value *block(struct ir_builder *b, const struct ir_inst *inst)
{
    bool writes = inst->op == IR_OP_IMAGE_BLOCK_WRITE;
    ir_type element = ir_type_element(inst->type);
    uint32_t bytes = ir_type_bits(element) / 8;
    struct ir_value *lanes[IR_MAX_LANES], *place[2], *operands[5] = {inst->operands[0]};
    for (unsigned i = 0; i < 2; i++) place[i] = ir_build1(b, IR_OP_SEXT, IR_I64, lane(b, inst->operands[1], i));
    struct ir_value *id = ir_build1(b, IR_OP_ZEXT, IR_I64, ir_build0(b, IR_OP_SUB_GROUP_LOCAL_ID, IR_VOID));
    operands[1] =
        ir_build2(b, IR_OP_ADD, IR_I64, place[0], ir_build2(b, IR_OP_MUL, IR_I64, id, number(b, IR_I64, bytes)));
    operands[3] = number(b, IR_I32, bytes);
    for (unsigned k = 0; k < ir_type_lanes(inst->type); k++) {
        operands[2] = ir_build2(b, IR_OP_ADD, IR_I64, place[1], number(b, IR_I64, k));
        if (writes) {
            struct ir_value *x = lane(b, inst->operands[2], k);
            operands[4] = element == IR_I64 ? x : ir_build1(b, IR_OP_ZEXT, IR_I64, x);
            call(b, "image_block_put", operands, 5);
        } else {
            struct ir_value *x = call(b, "image_block_get", operands, 4);
            lanes[k] = element == IR_I64 ? x : ir_build1(b, IR_OP_ITRUNC, element, x);
        }
    }
    if (writes) return NULL;
    unsigned n = ir_type_lanes(inst->type);
    return n == 1 ? lanes[0] : ir_build(b, IR_OP_VEC, inst->type, lanes, n)->results[0];
}

/* ---- queries ---- */

static size_t field_of(enum ir_op op)
{
    switch (op) {
    case IR_OP_IMAGE_WIDTH: return offsetof(struct spirv_image, width);
    case IR_OP_IMAGE_HEIGHT: return offsetof(struct spirv_image, height);
    case IR_OP_IMAGE_CHANNEL_TYPE: return offsetof(struct spirv_image, channel_type);
    case IR_OP_IMAGE_CHANNEL_ORDER: return offsetof(struct spirv_image, channel_order);
    default: return offsetof(struct spirv_image, layers);
    }
}

static struct ir_value *query(struct ir_builder *b, const struct ir_inst *inst)
{
    return ir_build_load(b, IR_I32, inst->operands[0], number(b, IR_I32, field_of(inst->op) / sizeof(uint32_t)));
}

/* ---- pipes ---- */

enum { READ_END = 1, WRITE_END = 3, PACKET_ALIGN = 16 }; /* the library's numbers of ends; that of the first packet */

static bool is_write(const struct ir_inst *inst)
{
    return inst->op == IR_OP_PIPE_WRITE || inst->op == IR_OP_PIPE_WRITE_AT || inst->op == IR_OP_PIPE_RESERVE_WRITE ||
           inst->op == IR_OP_PIPE_COMMIT_WRITE;
}

static void terminate(struct ir_block *block, enum ir_op op, struct ir_value *const *values, uint32_t n)
{
    struct ir_builder b = ir_builder_at_end(block);
    ir_build(&b, op, IR_VOID, values, n);
}

/* Who has the lock takes the packet's place, copies, and gives both back. Gives whether there was one. */
static struct ir_value *move_packet(struct ir_builder *b, const struct ir_inst *inst)
{
    bool at = inst->op == IR_OP_PIPE_READ_AT || inst->op == IR_OP_PIPE_WRITE_AT, writes = is_write(inst);
    struct ir_value *pipe = inst->operands[0], *end = number(b, IR_I32, writes ? WRITE_END : READ_END);
    struct ir_value *one = number(b, IR_I32, 1), *none = number(b, IR_I64, ~(uint64_t)0);
    struct ir_value *n =
        at ? call(b, "pipe_reserved", (struct ir_value *[]){pipe, end, inst->operands[2], inst->operands[3]}, 4)
           : call(b, "pipe_reserve", (struct ir_value *[]){pipe, end, one}, 3);
    struct ir_value *some = ir_build2(b, IR_OP_INE, IR_I64, n, none);
    struct ir_inst *branch = ir_build_if(b, some, NULL, 0);
    struct ir_builder in = ir_builder_at_end(branch->blocks[0]);
    in.loc = b->loc;
    struct ir_value *place = call(&in, "pipe_place", (struct ir_value *[]){pipe, n}, 2);
    struct ir_value *operands[] = {writes ? place : inst->operands[1], writes ? inst->operands[1] : place,
                                   number(b, IR_I64, 1)};
    uint32_t align = ir_type_align(b->module, inst->type);
    ir_build(&in, IR_OP_COPY, inst->type, operands, 3)->attrs.align = align < PACKET_ALIGN ? align : PACKET_ALIGN;
    if (!at) call(&in, "pipe_commit", (struct ir_value *[]){pipe, end, n, one}, 4);
    terminate(branch->blocks[0], IR_OP_YIELD, NULL, 0);
    terminate(branch->blocks[1], IR_OP_YIELD, NULL, 0);
    call(b, "pipe_unlock", &pipe, 1);
    return some;
}

static struct ir_value *packet(struct ir_builder *b, const struct ir_inst *inst)
{
    static const ir_type truth = IR_BOOL;
    struct ir_value *pipe = inst->operands[0], *size = number(b, IR_I32, ir_type_size(b->module, inst->type));
    struct ir_value *fits = call(b, "pipe_fits", (struct ir_value *[]){pipe, size}, 2);
    struct ir_inst *branch = ir_build_if(b, fits, &truth, 1);
    struct ir_builder in = ir_builder_at_end(branch->blocks[0]);
    in.loc = b->loc;
    struct ir_value *no = ir_const_bool(b->module, false), *first[] = {no, no};
    struct ir_inst *loop = ir_build_loop(&in, first, 2, &truth, 1);
    struct ir_value **args = loop->blocks[0]->args; /* whether it was done, and what came of it */
    struct ir_builder round = ir_builder_at_end(loop->blocks[0]);
    struct ir_inst *done = ir_build_if(&round, args[0], NULL, 0);
    terminate(done->blocks[0], IR_OP_BREAK, &args[1], 1);
    terminate(done->blocks[1], IR_OP_YIELD, NULL, 0);
    struct ir_inst *free = ir_build_if(&round, call(&round, "pipe_try", &pipe, 1), &truth, 1);
    struct ir_builder alone = ir_builder_at_end(free->blocks[0]);
    alone.loc = b->loc;
    struct ir_value *some = move_packet(&alone, inst);
    terminate(free->blocks[0], IR_OP_YIELD, &some, 1);
    terminate(free->blocks[1], IR_OP_YIELD, &no, 1);
    terminate(loop->blocks[0], IR_OP_CONTINUE, (struct ir_value *[]){free->operands[0], free->results[0]}, 2);
    terminate(branch->blocks[0], IR_OP_YIELD, loop->results, 1);
    terminate(branch->blocks[1], IR_OP_YIELD, &no, 1);
    return branch->results[0];
}

static struct ir_value *of_pipe(struct ir_builder *b, const struct ir_inst *inst)
{
    struct ir_value *end = number(b, IR_I32, is_write(inst) ? WRITE_END : READ_END);
    struct ir_value *operands[3] = {inst->operands[0], end, inst->n_operands > 1 ? inst->operands[1] : NULL};
    switch (inst->op) {
    case IR_OP_PIPE_RESERVE_READ:
    case IR_OP_PIPE_RESERVE_WRITE: return call(b, "pipe_reserve_id", operands, 3);
    case IR_OP_PIPE_COMMIT_READ:
    case IR_OP_PIPE_COMMIT_WRITE: return call(b, "pipe_commit_id", operands, 3);
    case IR_OP_PIPE_NUM_PACKETS: return call(b, "pipe_packets", operands, 1);
    case IR_OP_PIPE_MAX_PACKETS:
        return ir_build_load(b, IR_I32, operands[0], number(b, IR_I32, offsetof(struct spirv_pipe, capacity) / 4));
    default: return packet(b, inst);
    }
}

/* ---- one operation ---- */

static struct ir_value *lowered(struct ir_builder *b, const struct ir_inst *inst)
{
    switch (inst->op) {
    case IR_OP_MAKE_SAMPLER: return ir_build1(b, IR_OP_ZEXT, IR_I64, inst->operands[0]);
    case IR_OP_IMAGE_READ: return read_texel(b, inst);
    case IR_OP_IMAGE_WRITE: write_texel(b, inst); return NULL;
    case IR_OP_IMAGE_BLOCK_READ:
    case IR_OP_IMAGE_BLOCK_WRITE: return block(b, inst);
    case IR_OP_IMAGE_WIDTH ... IR_OP_IMAGE_CHANNEL_ORDER: return query(b, inst);
    default: return of_pipe(b, inst);
    }
}

/* ---- all of them ---- */

struct found {
    struct ir_inst **insts;
    size_t n;
    bool pipes_stay;
    bool others; /* pipes that are no arguments, and do not stay */
};

static void find(struct ir_inst *inst, void *data)
{
    struct found *f = data;
    enum ir_op_class c = ir_op_class(inst->op);
    bool blocks = inst->op == IR_OP_IMAGE_BLOCK_READ || inst->op == IR_OP_IMAGE_BLOCK_WRITE;
    f->others |= !f->pipes_stay && inst->op == IR_OP_GLOBAL && ir_type_kind(inst->results[0]->type) == IR_KIND_PIPE;
    if (inst->op == IR_OP_PIPE_READ_WAIT || inst->op == IR_OP_PIPE_WRITE_WAIT) return; /* refused by the writer */
    if (c != IR_CLASS_IMAGE && (c != IR_CLASS_PIPE || f->pipes_stay) && !blocks) return;
    f->insts = arena_realloc(f->insts, (f->n + 1) * sizeof *f->insts);
    f->insts[f->n++] = inst;
}

static void lower(struct ir_function *f, struct ir_inst *inst)
{
    struct ir_builder b = ir_builder_before(inst);
    b.loc = inst->loc;
    struct ir_value *v = lowered(&b, inst);
    if (v) ir_replace_uses(f->body, inst->results[0], v);
    ir_inst_remove(inst);
}

static bool retype(struct ir_value *v, bool pipes_stay)
{
    enum ir_kind kind = ir_type_kind(v->type);
    if (kind == IR_KIND_SAMPLER)
        v->type = IR_I64;
    else if (kind == IR_KIND_IMAGE || (kind == IR_KIND_PIPE && !pipes_stay))
        v->type = IR_PTR(IR_SPACE_GLOBAL);
    else
        return false;
    return true;
}

static void retype_all(struct ir_inst *inst, void *data)
{
    const struct found *f = data;
    for (uint32_t i = 0; i < inst->n_results; i++) retype(inst->results[i], f->pipes_stay);
    for (int k = 0; k < 2; k++)
        for (uint32_t i = 0; inst->blocks[k] && i < inst->blocks[k]->n_args; i++)
            retype(inst->blocks[k]->args[i], f->pipes_stay);
}

bool spirv_lower_handles(struct ir_function *f, bool pipes_stay)
{
    struct found found = {.pipes_stay = pipes_stay};
    bool some = false;
    ir_walk(f->body, find, &found);
    for (size_t i = 0; i < found.n && !found.others; i++) lower(f, found.insts[i]);
    free(found.insts);
    if (found.others) return false;
    for (uint32_t i = 0; i < f->n_params; i++) some |= retype(f->params[i].value, pipes_stay);
    ir_walk(f->body, retype_all, &found);
    return some || found.n;
}
