/* Images: texels and blocks by the functions of the launch, all lanes at a call; queries from the image's record. */
#include "fuser/cpu/emit/image.h"

#include <stddef.h>

#include "fuser/cpu/abi/kernel_abi.h"
#include "fuser/cpu/emit/runtime_call.h"
#include "fuser/cpu/emit/value.h"
#include "fuser/cpu/jit/jit.h"
#include "fuser/cpu/lower/operation.h"
#include "fuser/cpu/simd/lane_loop.h"
#include "fuser/cpu/simd/mask.h"
#include "fuser/cpu/simd/spill.h"

/* One call of struct kernel_functions, without the image, the sampler and the lanes it is for. */
struct transfer {
    size_t function;
    unsigned size, n; /* texels: the mode, and no more; blocks: bytes and number of numbers */
    bool block;
    lval coordinates, numbers;
};

static rval i32_of(struct emit *e, uint64_t v)
{
    return jit_int(e, IR_KIND_I32, v);
}

static void transfer_lanes(struct emit *e, const struct transfer *t, rval image, rval sampler, rval lanes)
{
    rval args[8], mode = i32_of(e, t->size);
    unsigned n = 0;
    if (sampler) mode = jit_binary(e, GCC_JIT_BINARY_OP_BITWISE_OR, mode, sampler);
    args[n++] = image;
    args[n++] = mode;
    if (t->block) args[n++] = i32_of(e, t->n);
    args[n++] = lanes;
    args[n++] = i32_of(e, e->width);
    args[n++] = jit_address(e, t->coordinates);
    args[n++] = jit_address(e, t->numbers);
    runtime_call(e, t->function, NULL, n, args, NULL);
}

/* The bits of a sampler that mean something; the rest of the word is the flags'. */
static struct lanes sampler_bits(struct emit *e, struct lanes sampler)
{
    sampler.kind = IR_KIND_I64;
    sampler = op2(e, IR_OP_AND, IR_KIND_I64, sampler, lanes_int(e, IR_KIND_I64, 0xffff));
    return op1(e, IR_OP_ITRUNC, IR_KIND_I32, sampler);
}

/* At one call where all lanes have the same image and sampler; else lane by lane. */
static void call_for_lanes(struct emit *e, const struct transfer *t, const struct ir_inst *inst,
                           const struct ir_value *sampled)
{
    struct lanes image = *emit_value(e, inst->operands[0]), sampler = {.shape = SHAPE_UNIFORM};
    image.kind = IR_KIND_I64;
    if (sampled) sampler = sampler_bits(e, *emit_value(e, sampled));
    if (image.shape == SHAPE_UNIFORM && sampler.shape == SHAPE_UNIFORM) {
        transfer_lanes(e, t, image.scalar, sampler.scalar, mask_bits(e, e->exec));
        return;
    }
    lval images = spill_lanes(e, &image), samplers = sampled ? spill_lanes(e, &sampler) : NULL;
    struct lane_loop loop;
    lane_loop_begin(e, &loop);
    rval bit = jit_binary(e, GCC_JIT_BINARY_OP_LSHIFT, jit_int(e, IR_KIND_I64, 1), loop.lane);
    transfer_lanes(e, t, spilled_lane(e, images, loop.lane), samplers ? spilled_lane(e, samplers, loop.lane) : NULL,
                   bit);
    lane_loop_end(e, &loop);
}

/* Components as bits, from number `at` on. */
static void put_components(struct emit *e, lval numbers, unsigned at, const struct ir_value *v)
{
    const struct lanes *component = emit_value(e, v);
    for (unsigned c = 0; c < ir_type_lanes(v->type); c++) {
        struct lanes bits = op_bits(e, component[c], kind_of_bytes(kind_bytes(component[c].kind)));
        spill_into(e, numbers, (at + c) * e->width, &bits);
    }
}

static void get_components(struct emit *e, const struct transfer *t, ir_type type, struct lanes *result)
{
    enum ir_kind kind = ir_type_kind(type), bits = kind_of_bytes(kind_bytes(kind));
    for (unsigned c = 0; c < ir_type_lanes(type); c++)
        result[c] = op_bits(e, unspill_from(e, bits, t->numbers, c * e->width), kind);
}

static void emit_texels(struct emit *e, const struct ir_inst *inst, struct lanes *result)
{
    bool write = inst->op == IR_OP_IMAGE_WRITE;
    const struct ir_value *sampler = !write && inst->n_operands > 2 ? inst->operands[2] : NULL;
    enum ir_image_form form = ir_type_image_form(inst->operands[0]->type);
    struct transfer t = {.function = write ? offsetof(struct kernel_functions, image_write)
                                           : offsetof(struct kernel_functions, image_read),
                         .size = (unsigned)form << KERNEL_TEXEL_FORM,
                         .coordinates = lane_array(e, IR_KIND_I32, ir_image_coordinates(form)),
                         .numbers = lane_array(e, IR_KIND_I32, 4)};
    if (ir_type_is_int(inst->type)) t.size |= KERNEL_TEXEL_INTS;
    if (ir_type_is_float(inst->operands[1]->type)) t.size |= KERNEL_TEXEL_FLOATS;
    if (sampler) t.size |= KERNEL_TEXEL_SAMPLED;
    put_components(e, t.coordinates, 0, inst->operands[1]);
    if (write) put_components(e, t.numbers, 0, inst->operands[2]);
    call_for_lanes(e, &t, inst, sampler);
    if (!write) get_components(e, &t, inst->type, result);
}

/* A vector is a sub-group: the id in it is the lane's number. */
static void emit_block(struct emit *e, const struct ir_inst *inst, struct lanes *result)
{
    bool write = inst->op == IR_OP_IMAGE_BLOCK_WRITE;
    enum ir_kind kind = ir_type_kind(inst->type);
    unsigned n = ir_type_lanes(inst->type);
    struct transfer t = {.function = write ? offsetof(struct kernel_functions, image_block_write)
                                           : offsetof(struct kernel_functions, image_block_read),
                         .size = kind_bytes(kind),
                         .n = n,
                         .block = true,
                         .coordinates = lane_array(e, IR_KIND_I32, 3),
                         .numbers = lane_array(e, kind, n)};
    struct lanes id = lanes_linear(IR_KIND_I32, i32_of(e, 0), e->width > 1);
    put_components(e, t.coordinates, 0, inst->operands[1]);
    spill_into(e, t.coordinates, 2 * e->width, &id);
    if (write) put_components(e, t.numbers, 0, inst->operands[2]);
    call_for_lanes(e, &t, inst, NULL);
    if (!write) get_components(e, &t, inst->type, result);
}

/* ---- queries ---- */

static size_t field_of(enum ir_op op)
{
    switch (op) {
    case IR_OP_IMAGE_WIDTH: return offsetof(struct ir_image, width);
    case IR_OP_IMAGE_HEIGHT: return offsetof(struct ir_image, height);
    case IR_OP_IMAGE_DEPTH:
    case IR_OP_IMAGE_ARRAY_SIZE: return offsetof(struct ir_image, slices);
    case IR_OP_IMAGE_CHANNEL_TYPE: return offsetof(struct ir_image, channel_type);
    default: return offsetof(struct ir_image, channel_order);
    }
}

void emit_image(struct emit *e, const struct ir_inst *inst, struct lanes *result)
{
    switch (inst->op) {
    case IR_OP_IMAGE_BLOCK_READ:
    case IR_OP_IMAGE_BLOCK_WRITE: emit_block(e, inst, result); break;
    case IR_OP_IMAGE_READ:
    case IR_OP_IMAGE_WRITE: emit_texels(e, inst, result); break;
    case IR_OP_MAKE_SAMPLER: *result = op1(e, IR_OP_ZEXT, IR_KIND_I64, *emit_value(e, inst->operands[0])); break;
    default: *result = runtime_field(e, *emit_value(e, inst->operands[0]), field_of(inst->op));
    }
}
