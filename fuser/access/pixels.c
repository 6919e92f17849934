/* Pixels of images: the coordinates of reads and writes as sums of ids, lane by lane. */
#include "fuser/access/pixels.h"

#include "fuser/access/affine_value.h"
#include "ir/base/arena.h"
#include "ir/image/image.h"

enum { MOST_STEPS = 32, EXACT_FLOATS = 1 << 24 };

static const struct ir_inst *maker(const struct ir_value *v)
{
    return v->kind == IR_VALUE_RESULT ? v->of.inst : NULL;
}

/* The operand of a vec that the lane comes from, which becomes a lane of that. */
static const struct ir_value *part_of(const struct ir_inst *vec, uint32_t *lane)
{
    for (uint32_t i = 0; i < vec->n_operands; i++) {
        uint32_t lanes = ir_type_lanes(vec->operands[i]->type);
        if (*lane < lanes) return vec->operands[i];
        *lane -= lanes;
    }
    return NULL;
}

/* The integer that a lane of the vector is, as it is or as a float; NULL: not known. */
static const struct ir_value *integer_at(const struct ir_value *v, uint32_t lane, bool *as_float)
{
    for (unsigned step = 0; v && step < MOST_STEPS; step++) {
        const struct ir_inst *inst = maker(v);
        uint64_t n;
        bool is_scalar = !ir_type_is_vector(v->type);
        if (is_scalar && !(inst && (inst->op == IR_OP_EXTRACT || inst->op == IR_OP_STOF)))
            return ir_type_is_int(v->type) ? v : NULL;
        if (!inst) return NULL;
        switch (inst->op) {
        case IR_OP_STOF:
            *as_float = true;
            v = inst->operands[0];
            break;
        case IR_OP_SPLAT:
            lane = 0;
            v = inst->operands[0];
            break;
        case IR_OP_VEC: v = part_of(inst, &lane); break;
        case IR_OP_EXTRACT:
            if (!ir_value_uint(inst->operands[1], &n)) return NULL;
            lane = (uint32_t)n;
            v = inst->operands[0];
            break;
        case IR_OP_INSERT:
            if (!ir_value_uint(inst->operands[2], &n)) return NULL;
            v = n == lane ? inst->operands[1] : inst->operands[0];
            if (n == lane) lane = 0;
            break;
        default: return NULL;
        }
    }
    return NULL;
}

/* Integers count pixels; floats do where the nearest one is read. Outside of the image a read without a sampler, or
   with a border, is at no pixel. */
static bool read_sampler(const struct ir_inst *inst, bool floats, bool *wraps)
{
    *wraps = false;
    if (inst->op != IR_OP_IMAGE_READ || inst->n_operands < 3) return !floats;
    const struct ir_inst *sampler = maker(inst->operands[2]);
    uint64_t bits;
    if (!sampler || sampler->op != IR_OP_MAKE_SAMPLER || !ir_value_uint(sampler->operands[0], &bits)) return false;
    *wraps = (bits & IR_SAMPLER_ADDRESS) != IR_SAMPLER_CLAMP;
    return !floats || (!(bits & IR_SAMPLER_NORMALIZED) && bits & IR_SAMPLER_NEAREST && !(bits & IR_SAMPLER_LINEAR));
}

static bool read_place(const struct access_walk *w, const struct ir_inst *inst, struct access_pixel *p)
{
    const struct ir_value *coordinates = inst->operands[1];
    bool floats = false;
    p->n = ir_type_lanes(coordinates->type);
    if (p->n > 3) return false;
    for (uint32_t i = 0; i < p->n; i++) {
        const struct ir_value *v = integer_at(coordinates, i, &floats);
        if (!v) return false;
        p->at[i] = affine_value_widened(w, v, true);
        if (!affine_is_exact(&p->at[i]) || !affine_range(&p->at[i], &w->bounds, &p->low[i], &p->high[i])) return false;
        if (floats && (p->low[i] < -EXACT_FLOATS || p->high[i] > EXACT_FLOATS)) return false;
    }
    return read_sampler(inst, floats, &p->wraps);
}

void pixels_see(struct access_walk *w, const struct ir_inst *inst)
{
    const struct ir_value *image = inst->operands[0];
    if (image->kind != IR_VALUE_PARAM) return;
    struct access_summary *s = &w->result->params[image->index];
    struct access_pixel pixel = {.writes = inst->op == IR_OP_IMAGE_WRITE};
    bool is_plain = inst->op == IR_OP_IMAGE_READ || inst->op == IR_OP_IMAGE_WRITE;
    if (!is_plain || !read_place(w, inst, &pixel)) {
        s->pixels_unknown = true;
        return;
    }
    s->pixels = arena_grow(w->result->arena, s->pixels, s->n_pixels, sizeof *s->pixels);
    s->pixels[s->n_pixels++] = pixel;
}
