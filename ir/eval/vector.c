/* Operations on whole vectors: building, picking lanes, bit casts. */
#include "ir/eval/vector.h"

#include <string.h>

static ir_type operand_type(const struct ir_inst *inst, uint32_t i)
{
    return inst->operands[i]->type;
}

static void join(const struct ir_inst *inst, const uint64_t *const *operands, uint64_t *r)
{
    unsigned at = 0;
    for (uint32_t i = 0; i < inst->n_operands; i++)
        for (unsigned lane = 0; lane < ir_type_lanes(operand_type(inst, i)) && at < IR_MAX_LANES; lane++)
            r[at++] = operands[i][lane];
}

static void extract(const struct ir_inst *inst, const uint64_t *const *operands, uint64_t *r)
{
    uint64_t index = operands[1][0];
    r[0] = index < ir_type_lanes(inst->type) ? operands[0][index] : 0;
}

static void insert(const struct ir_inst *inst, const uint64_t *const *operands, uint64_t *r)
{
    unsigned lanes = ir_type_lanes(inst->type);
    memcpy(r, operands[0], lanes * sizeof *r);
    if (operands[2][0] < lanes) r[operands[2][0]] = operands[1][0];
}

/* A lane of the concatenation of the first n operands; outside of it 0. */
static uint64_t pick(const struct ir_inst *inst, const uint64_t *const *operands, uint32_t n, uint64_t index)
{
    for (uint32_t i = 0; i < n; i++) {
        unsigned lanes = ir_type_lanes(operand_type(inst, i));
        if (index < lanes) return operands[i][index];
        index -= lanes;
    }
    return 0;
}

static void shuffle(const struct ir_inst *inst, const uint64_t *const *operands, uint64_t *r)
{
    for (unsigned lane = 0; lane < ir_type_lanes(inst->type); lane++) {
        int8_t from = inst->attrs.mask[lane];
        r[lane] = from < 0 ? 0 : pick(inst, operands, 2, (uint64_t)from);
    }
}

/* OpenCL's shuffle: only as many low bits of the mask count as the sources need; a vector of 3 counts
   as one of 4, whose last lane is undefined. */
static void shuffle_dynamic(const struct ir_inst *inst, const uint64_t *const *operands, uint32_t sources, uint64_t *r)
{
    unsigned lanes = ir_type_lanes(operand_type(inst, 0)), room = lanes == 3 ? 4 : lanes;
    for (unsigned lane = 0; lane < ir_type_lanes(inst->type); lane++) {
        uint64_t index = operands[sources][lane] & (room * sources - 1);
        uint64_t within = index % room, source = index / room;
        r[lane] = within < ir_type_lanes(operand_type(inst, (uint32_t)source)) ? operands[source][within] : 0;
    }
}

static unsigned lane_bytes(ir_type t)
{
    unsigned bits = ir_type_bits(t);
    return bits == 1 ? 1 : bits / 8;
}

static void bitcast(const struct ir_inst *inst, const uint64_t *const *operands, uint64_t *r)
{
    uint8_t bytes[IR_MAX_LANES * 8] = {0};
    ir_type from = operand_type(inst, 0);
    unsigned size = lane_bytes(from);
    for (unsigned lane = 0; lane < ir_type_lanes(from); lane++) memcpy(bytes + lane * size, &operands[0][lane], size);
    size = lane_bytes(inst->type);
    for (unsigned lane = 0; lane < ir_type_lanes(inst->type); lane++) {
        r[lane] = 0;
        memcpy(&r[lane], bytes + lane * size, size);
    }
}

static void select_whole(const struct ir_inst *inst, const uint64_t *const *operands, uint64_t *r)
{
    bool per_lane = ir_type_lanes(operand_type(inst, 0)) > 1;
    for (unsigned lane = 0; lane < ir_type_lanes(inst->type); lane++)
        r[lane] = operands[operands[0][per_lane ? lane : 0] ? 1 : 2][lane];
}

static uint64_t count_set(ir_type t, const uint64_t *x)
{
    uint64_t n = 0;
    for (unsigned lane = 0; lane < ir_type_lanes(t); lane++) n += x[lane] >> (ir_type_bits(t) - 1) & 1;
    return n;
}

bool eval_vector(const struct ir_inst *inst, const uint64_t *const *operands, uint64_t *r)
{
    unsigned lanes = ir_type_lanes(inst->type);
    switch (inst->op) {
    case IR_OP_ANY: r[0] = count_set(inst->type, operands[0]) > 0; return true;
    case IR_OP_ALL: r[0] = count_set(inst->type, operands[0]) == lanes; return true;
    case IR_OP_SELECT: select_whole(inst, operands, r); return true;
    case IR_OP_BITCAST: bitcast(inst, operands, r); return true;
    case IR_OP_VEC: join(inst, operands, r); return true;
    case IR_OP_SPLAT:
        for (unsigned lane = 0; lane < lanes; lane++) r[lane] = operands[0][0];
        return true;
    case IR_OP_EXTRACT: extract(inst, operands, r); return true;
    case IR_OP_INSERT: insert(inst, operands, r); return true;
    case IR_OP_SHUFFLE: shuffle(inst, operands, r); return true;
    case IR_OP_VSHUFFLE: shuffle_dynamic(inst, operands, 1, r); return true;
    case IR_OP_VSHUFFLE2: shuffle_dynamic(inst, operands, 2, r); return true;
    default: return false;
    }
}
