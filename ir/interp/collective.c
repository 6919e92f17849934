/* Barriers and group operations of work-items that have met. They come ordered by linear local id. */
#include "ir/interp/collective.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "ir/eval/bits.h"
#include "ir/eval/float.h"
#include "ir/eval/float_format.h"
#include "ir/eval/int.h"
#include "ir/interp/frame.h"
#include "ir/interp/image.h"
#include "ir/interp/memory_access.h"
#include "ir/interp/report.h"
#include "ir/interp/value.h"

static unsigned lanes_of(const struct ir_inst *inst)
{
    return ir_type_lanes(inst->type);
}

static void give_result(const struct item *item, const uint64_t *value, unsigned lanes)
{
    memcpy(interp_item_result(item), value, lanes * sizeof *value);
}

static void give_all_results(struct item *const *items, uint32_t n, const uint64_t *value, unsigned lanes)
{
    for (uint32_t i = 0; i < n; i++) give_result(items[i], value, lanes);
}

/* ---- barriers ---- */

static void exec_barrier(struct machine *m, struct item *const *items, const struct ir_attrs *attrs)
{
    uint32_t *times =
        attrs->scope == IR_SCOPE_SUB_GROUP ? m->group.sub_barrier_time[items[0]->sub_group] : m->group.barrier_time;
    if (attrs->fence & IR_FENCE_LOCAL) times[0] = m->time;
    if (attrs->fence & IR_FENCE_GLOBAL) times[1] = m->time;
    if (attrs->fence & IR_FENCE_IMAGE) times[2] = m->time;
    m->time++;
}

/* ---- votes ---- */

static uint64_t count_true(struct item *const *items, uint32_t n)
{
    uint64_t count = 0;
    for (uint32_t i = 0; i < n; i++) count += interp_item_operand(items[i], 0)[0];
    return count;
}

static void exec_elect(struct item *const *items, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) *interp_item_result(items[i]) = i == 0;
}

static void exec_ballot(struct item *const *items, uint32_t n)
{
    uint64_t mask[4] = {0};
    for (uint32_t i = 0; i < n; i++) {
        uint32_t id = items[i]->sub_local;
        if (id < 128) mask[id / 32] |= interp_item_operand(items[i], 0)[0] << id % 32;
    }
    give_all_results(items, n, mask, 4);
}

/* Floats compare as numbers: -0 equals 0, a NaN equals nothing. */
static bool exec_all_equal(struct item *const *items, uint32_t n, ir_type t)
{
    enum ir_op equal = ir_type_is_float(t) ? IR_OP_FOEQ : IR_OP_IEQ;
    for (uint32_t i = 0; i < n; i++)
        for (unsigned lane = 0; lane < ir_type_lanes(t); lane++) {
            uint64_t v[4] = {interp_item_operand(items[0], 0)[lane], interp_item_operand(items[i], 0)[lane]}, same;
            eval_compare(equal, t, v, &same);
            if (!same) return false;
        }
    return true;
}

/* ---- reductions and scans ---- */

static enum ir_op operation_of(enum ir_group_op op, bool is_float)
{
    static const enum ir_op ints[] = {IR_OP_ADD,  IR_OP_MUL, IR_OP_SMIN, IR_OP_UMIN, IR_OP_SMAX,
                                      IR_OP_UMAX, IR_OP_AND, IR_OP_OR,   IR_OP_XOR};
    static const enum ir_op floats[] = {IR_OP_FADD, IR_OP_FMUL, IR_OP_FMIN, IR_OP_FMIN, IR_OP_FMAX, IR_OP_FMAX};
    if (!is_float) return ints[op];
    return op <= IR_GROUP_UMAX ? floats[op] : IR_OP_FADD;
}

static uint64_t combine_values(const struct ir_inst *inst, uint64_t a, uint64_t b)
{
    uint64_t v[4] = {a, b}, r = 0;
    bool is_float = ir_type_is_float(inst->type);
    enum ir_op op = operation_of(inst->attrs.group_op, is_float);
    if (is_float)
        eval_float(op, ir_type_kind(inst->type), v, &r);
    else
        eval_int(op, ir_type_bits(inst->type), v, &r);
    return r;
}

static uint64_t float_identity(enum ir_group_op op, enum ir_kind kind)
{
    switch (op) {
    case IR_GROUP_MUL: return eval_from_double(kind, 1, IR_ROUND_RTE);
    case IR_GROUP_SMIN:
    case IR_GROUP_UMIN: return eval_from_double(kind, __builtin_inf(), IR_ROUND_RTE);
    case IR_GROUP_SMAX:
    case IR_GROUP_UMAX: return eval_from_double(kind, -__builtin_inf(), IR_ROUND_RTE);
    default: return 0;
    }
}

static uint64_t int_identity(enum ir_group_op op, unsigned bits)
{
    switch (op) {
    case IR_GROUP_MUL: return 1;
    case IR_GROUP_SMIN: return eval_mask(bits - 1);
    case IR_GROUP_SMAX: return 1ull << (bits - 1);
    case IR_GROUP_UMIN:
    case IR_GROUP_AND: return eval_mask(bits);
    default: return 0;
    }
}

static uint64_t identity_of(const struct ir_inst *inst)
{
    enum ir_group_op op = inst->attrs.group_op;
    if (ir_type_is_float(inst->type)) return float_identity(op, ir_type_kind(inst->type));
    return int_identity(op, ir_type_bits(inst->type));
}

static uint32_t half_of(uint32_t n)
{
    uint32_t half = 1;
    while (half * 2 < n) half *= 2;
    return n > 1 ? half : 0;
}

/* By halves: work-item i takes in work-item i + d where that one is, for d from the largest power of two below
   their number down to 1. This order is a rule of the IR, for floats show it. No identity comes in: -0 alone stays -0.
 */
static void exec_reduce(const struct ir_inst *inst, struct item *const *items, uint32_t n)
{
    unsigned lanes = lanes_of(inst);
    for (uint32_t i = 0; i < n; i++) give_result(items[i], interp_item_operand(items[i], 0), lanes);
    for (uint32_t d = half_of(n); d > 0; d /= 2)
        for (uint32_t i = 0; i < d && i + d < n; i++) {
            uint64_t *sum = interp_item_result(items[i]);
            const uint64_t *other = interp_item_result(items[i + d]);
            for (unsigned lane = 0; lane < lanes; lane++) sum[lane] = combine_values(inst, sum[lane], other[lane]);
        }
    const uint64_t *sum = interp_item_result(items[0]);
    for (uint32_t i = 1; i < n; i++) give_result(items[i], sum, lanes);
}

static void exec_scan(const struct ir_inst *inst, struct item *const *items, uint32_t n, bool inclusive)
{
    uint64_t sum[IR_MAX_LANES];
    for (unsigned lane = 0; lane < lanes_of(inst); lane++) sum[lane] = identity_of(inst);
    for (uint32_t i = 0; i < n; i++) {
        if (!inclusive) give_result(items[i], sum, lanes_of(inst));
        for (unsigned lane = 0; lane < lanes_of(inst); lane++) {
            uint64_t x = interp_item_operand(items[i], 0)[lane];
            sum[lane] = i == 0 ? x : combine_values(inst, sum[lane], x);
        }
        if (inclusive) give_result(items[i], sum, lanes_of(inst));
    }
}

/* ---- values of others ---- */

/* Two work-items that should agree and do not. */
static void report_differing(struct machine *m, const struct code_inst *at, const struct item *one,
                             const struct item *other, const char *what)
{
    struct other_access o = {{one->global[0], one->global[1], one->global[2]}, UINT32_MAX};
    const uint64_t *a = one->global, *b = other->global;
    if (m->options.tolerant) return;
    interp_report_pair(m, INTERP_INVALID, other, at, &o,
                       "%s %s: (%" PRIu64 ",%" PRIu64 ",%" PRIu64 ") and (%" PRIu64 ",%" PRIu64 ",%" PRIu64 ") differ",
                       ir_op_info(at->ir->op)->text, what, a[0], a[1], a[2], b[0], b[1], b[2]);
}

static void check_same_operand(struct machine *m, const struct code_inst *at, struct item *const *items, uint32_t n,
                               uint32_t operand, const char *what)
{
    size_t bytes = ir_type_lanes(at->ir->operands[operand]->type) * sizeof(uint64_t);
    for (uint32_t i = 1; i < n; i++)
        if (memcmp(interp_item_operand(items[0], operand), interp_item_operand(items[i], operand), bytes) != 0)
            report_differing(m, at, items[0], items[i], what);
}

static uint64_t broadcast_source(const struct machine *m, const struct item *item, const struct ir_inst *inst)
{
    if (inst->attrs.scope == IR_SCOPE_SUB_GROUP) return interp_item_operand(item, 1)[0];
    uint64_t linear = 0;
    for (uint32_t d = inst->n_operands - 1; d > 0; d--) {
        uint64_t id = interp_item_operand(item, d)[0];
        if (id >= m->group.size[d - 1]) return UINT64_MAX;
        linear = linear * m->group.size[d - 1] + id;
    }
    return linear;
}

static void exec_broadcast(struct machine *m, const struct code_inst *at, struct item *const *items, uint32_t n)
{
    uint64_t source = broadcast_source(m, items[0], at->ir), value[IR_MAX_LANES] = {0};
    for (uint32_t i = 1; i < n; i++)
        if (broadcast_source(m, items[i], at->ir) != source)
            report_differing(m, at, items[0], items[i], "takes a work-item that is not the same for all");
    if (source < n)
        memcpy(value, interp_item_operand(items[source], 0), lanes_of(at->ir) * sizeof *value);
    else if (!m->options.tolerant)
        interp_report(m, INTERP_INVALID, items[0], at, "group_broadcast from a work-item outside the group of %u", n);
    give_all_results(items, n, value, lanes_of(at->ir));
}

/* Operand `operand` of the active work-item with that id in the sub-group; undefined, here 0, where there is none. */
static void fetch_value(struct item *const *items, uint32_t n, uint64_t id, uint32_t operand, uint64_t *value,
                        unsigned lanes)
{
    memset(value, 0, lanes * sizeof *value);
    for (uint32_t i = 0; i < n; i++)
        if (items[i]->sub_local == id) memcpy(value, interp_item_operand(items[i], operand), lanes * sizeof *value);
}

/* Work-items of the item's sub-group: fewer than its size where it is incomplete. */
static uint64_t items_of_sub_group(const struct machine *m, const struct item *item)
{
    uint64_t max = m->sub_group_size, rest = m->group.n_items - item->sub_group * max;
    return rest < max ? rest : max;
}

static void shuffle_one(const struct machine *m, const struct ir_inst *inst, const struct item *item,
                        struct item *const *items, uint32_t n, uint64_t *value)
{
    unsigned lanes = lanes_of(inst);
    uint64_t id = item->sub_local, max = m->sub_group_size, size = items_of_sub_group(m, item);
    bool two = inst->op == IR_OP_SUB_GROUP_SHUFFLE_UP || inst->op == IR_OP_SUB_GROUP_SHUFFLE_DOWN;
    uint64_t x = interp_item_operand(item, two ? 2 : 1)[0];
    switch (inst->op) {
    case IR_OP_SUB_GROUP_SHUFFLE: fetch_value(items, n, x, 0, value, lanes); break;
    case IR_OP_SUB_GROUP_SHUFFLE_XOR: fetch_value(items, n, id ^ x, 0, value, lanes); break;
    case IR_OP_SUB_GROUP_ROTATE: fetch_value(items, n, (id + x) % size, 0, value, lanes); break;
    case IR_OP_SUB_GROUP_SHUFFLE_UP:
        if (id >= x)
            fetch_value(items, n, id - x, 1, value, lanes);
        else
            fetch_value(items, n, id + max - x, 0, value, lanes);
        break;
    default:
        if (id + x < max)
            fetch_value(items, n, id + x, 0, value, lanes);
        else
            fetch_value(items, n, id + x - max, 1, value, lanes);
    }
}

/* An id must be that of a work-item; what a shift moves in from outside is undefined and no mistake. */
static void check_source(struct machine *m, const struct code_inst *at, const struct item *item)
{
    if (at->ir->op != IR_OP_SUB_GROUP_SHUFFLE && at->ir->op != IR_OP_SUB_GROUP_SHUFFLE_XOR) return;
    uint64_t id = interp_item_operand(item, 1)[0], n = items_of_sub_group(m, item);
    char missing[64] = "";
    if (at->ir->op == IR_OP_SUB_GROUP_SHUFFLE_XOR) id ^= item->sub_local;
    if (id < n) return;
    if (n < m->sub_group_size) snprintf(missing, sizeof missing, " that is incomplete: it has %" PRIu64, n);
    interp_report(m, INTERP_INVALID, item, at,
                  "%s: (%" PRIu64 ",%" PRIu64 ",%" PRIu64 ") takes the value of id %" PRIu64 " of a sub-group of %u%s",
                  ir_op_info(at->ir->op)->text, item->global[0], item->global[1], item->global[2], id,
                  m->sub_group_size, missing);
}

static void exec_shuffle(struct machine *m, const struct code_inst *at, struct item *const *items, uint32_t n)
{
    const struct ir_inst *inst = at->ir;
    for (uint32_t i = 0; i < n; i++) {
        uint64_t value[IR_MAX_LANES];
        if (m->options.check_shuffles) check_source(m, at, items[i]);
        shuffle_one(m, inst, items[i], items, n, value);
        give_result(items[i], value, lanes_of(inst));
    }
}

/* ---- block reads and writes ---- */

/* Where a block may begin: at four bytes to be read, at sixteen to be written. */
static uint32_t block_align(bool write, unsigned size)
{
    return write ? 16 : size < 4 ? 4 : size;
}

static void block_item(struct machine *m, const struct code_inst *at, struct item *item)
{
    bool write = at->ir->op == IR_OP_BLOCK_WRITE;
    ir_type element = ir_type_element(at->ir->type);
    unsigned size = interp_lane_size(element);
    uint64_t base = interp_item_operand(item, 0)[0];
    for (unsigned k = 0; k < lanes_of(at->ir); k++) {
        uint8_t value[8];
        if (write) interp_value_write(element, value, &interp_item_operand(item, 1)[k]);
        struct access a = {base + ((uint64_t)k * m->sub_group_size + item->sub_local) * size,
                           size,
                           ir_type_space(at->ir->operands[0]->type),
                           k == 0 && item->sub_local == 0 ? block_align(write, size) : size,
                           write ? ACCESS_WRITE : ACCESS_READ,
                           write ? value : NULL};
        uint8_t *bytes = interp_memory_access(m, item, at, &a);
        if (bytes && write) memcpy(bytes, value, size);
        if (!write) interp_item_result(item)[k] = 0;
        if (bytes && !write) interp_value_read(element, bytes, &interp_item_result(item)[k]);
    }
}

static void exec_block(struct machine *m, const struct code_inst *at, struct item *const *items, uint32_t n)
{
    check_same_operand(m, at, items, n, 0, "has a pointer that is not the same in the sub-group");
    for (uint32_t i = 0; i < n; i++) block_item(m, at, items[i]);
}

/* Rows may be read from any byte on; they are written from a multiple of four on. */
static void exec_image_block(struct machine *m, const struct code_inst *at, struct item *const *items, uint32_t n)
{
    check_same_operand(m, at, items, n, 0, "has an image that is not the same in the sub-group");
    check_same_operand(m, at, items, n, 1, "has a coordinate that is not the same in the sub-group");
    int64_t x = eval_sext(interp_item_operand(items[0], 1)[0], 32);
    if (!m->options.tolerant && at->ir->op == IR_OP_IMAGE_BLOCK_WRITE && x % 4 != 0)
        interp_report(m, INTERP_INVALID, items[0], at,
                      "image_block_write from byte %" PRId64 " on, not a multiple of 4", x);
    for (uint32_t i = 0; i < n; i++) interp_image_block_exec(m, items[i]);
}

void interp_collective_exec(struct machine *m, struct item *const *items, uint32_t n)
{
    const struct code_inst *at = interp_item_at(items[0]);
    const struct ir_inst *inst = at->ir;
    uint64_t truth;
    switch (inst->op) {
    case IR_OP_BARRIER: exec_barrier(m, items, &inst->attrs); break;
    case IR_OP_GROUP_ALL:
        truth = count_true(items, n) == n;
        give_all_results(items, n, &truth, 1);
        break;
    case IR_OP_GROUP_ANY:
        truth = count_true(items, n) > 0;
        give_all_results(items, n, &truth, 1);
        break;
    case IR_OP_GROUP_BROADCAST: exec_broadcast(m, at, items, n); break;
    case IR_OP_GROUP_REDUCE: exec_reduce(inst, items, n); break;
    case IR_OP_GROUP_SCAN_INCL: exec_scan(inst, items, n, true); break;
    case IR_OP_GROUP_SCAN_EXCL: exec_scan(inst, items, n, false); break;
    case IR_OP_SUB_GROUP_ELECT: exec_elect(items, n); break;
    case IR_OP_SUB_GROUP_BALLOT: exec_ballot(items, n); break;
    case IR_OP_SUB_GROUP_ALL_EQUAL:
        truth = exec_all_equal(items, n, inst->type);
        give_all_results(items, n, &truth, 1);
        break;
    case IR_OP_SUB_GROUP_SHUFFLE ... IR_OP_SUB_GROUP_ROTATE: exec_shuffle(m, at, items, n); break;
    case IR_OP_BLOCK_READ:
    case IR_OP_BLOCK_WRITE: exec_block(m, at, items, n); break;
    case IR_OP_IMAGE_BLOCK_READ:
    case IR_OP_IMAGE_BLOCK_WRITE: exec_image_block(m, at, items, n); break;
    default: break; /* ir_is_convergent() names no others */
    }
}
