/* Addresses in initial values: a variable and an offset, through the constants that they are computed by. */
#include "ir/spirv/decode/initial_address.h"

#include "ir/spirv/decode/constant_values.h"
#include "ir/spirv/decode/fail.h"
#include "ir/spirv/decode/ids.h"
#include "ir/spirv/decode/tools.h"
#include "ir/spirv/decode/types.h"

enum { MAX_STEPS = 64 };

/* What is left to be gone through, from the address itself to the variable. */
struct walk {
    struct spirv_reader *r;
    const struct spirv_inst *user;
    uint32_t id;
    uint64_t at;
};

static bool signed_index(const struct spirv_reader *r, uint32_t id, uint64_t *index)
{
    if (!spirv_constant_uint(r, id, index)) return false;
    unsigned bits = ir_type_bits(r->constants[id]->type);
    if (bits < 64) *index = (uint64_t)((int64_t)(*index << (64 - bits)) >> (64 - bits));
    return true;
}

/* Into part number `index` of a type; false: it has none. */
static bool step_into(struct walk *w, uint32_t *type, uint64_t index)
{
    const struct ir_module *m = w->r->module;
    const struct ir_struct *s = ir_type_struct(m, w->r->types[*type].ir);
    if (s && index >= s->n_fields) return false;
    uint32_t part = spirv_part(w->r, *type, s ? (uint32_t)index : 0);
    if (!part || !w->r->types[part].known) return false;
    w->at += s ? s->fields[index].offset : index * ir_type_size(m, w->r->types[part].ir);
    *type = part;
    return true;
}

/* An access chain as a constant: words from the base on. */
static bool add_chain(struct walk *w, const struct spirv_inst *d, bool of_pointer)
{
    uint32_t at = 5, type = spirv_pointee(w->r, spirv_def(w->r, d->words[4])->type);
    uint64_t index;
    if (!type || !w->r->types[type].known) return false;
    if (of_pointer) {
        if (at == d->n || !signed_index(w->r, d->words[at++], &index)) return false;
        w->at += index * ir_type_size(w->r->module, w->r->types[type].ir);
    }
    for (; at < d->n; at++)
        if (!signed_index(w->r, d->words[at], &index) || !step_into(w, &type, index)) return false;
    return true;
}

static bool step_back(struct walk *w)
{
    const struct spirv_inst *d = spirv_def(w->r, w->id);
    if (d->op != SpvOpSpecConstantOp || d->n < 5 || !spirv_def(w->r, d->words[4])) return false;
    switch (d->words[3]) {
    case SpvOpAccessChain:
    case SpvOpInBoundsAccessChain:
        if (!add_chain(w, d, false)) return false;
        break;
    case SpvOpPtrAccessChain:
    case SpvOpInBoundsPtrAccessChain:
        if (!add_chain(w, d, true)) return false;
        break;
    case SpvOpBitcast:
    case SpvOpPtrCastToGeneric:
    case SpvOpGenericCastToPtr: break;
    case SpvOpConvertPtrToU:
    case SpvOpConvertUToPtr:
        if (ir_type_size(w->r->module, w->r->types[d->type].ir) != 8) return false;
        break;
    default: return false;
    }
    w->id = d->words[4];
    return true;
}

/* An address that is a number: null, or an integer that was made a pointer. */
static bool is_number(const struct walk *w, uint64_t *number)
{
    *number = 0;
    return spirv_def(w->r, w->id)->op == SpvOpConstantNull || spirv_constant_uint(w->r, w->id, number);
}

bool spirv_initial_address(struct spirv_reader *r, const struct spirv_inst *user, uint32_t id,
                           struct ir_address *address)
{
    struct walk w = {.r = r, .user = user, .id = id};
    uint64_t number;
    for (unsigned steps = 0; spirv_def(r, w.id)->op != SpvOpVariable; steps++) {
        if (is_number(&w, &number)) {
            address->target = NULL;
            address->at = number + w.at;
            return true;
        }
        if (steps == MAX_STEPS) {
            spirv_fail(r, user, "an address in its initial value is computed in more than %d steps", MAX_STEPS);
            return false;
        }
        if (step_back(&w)) continue;
        const struct spirv_inst *d = spirv_def(r, w.id);
        bool computed = d->op == SpvOpSpecConstantOp && d->n > 3;
        spirv_fail(r, user, "its initial value holds an Op%s%s%s, which cannot be read", tools_op_name(d->op),
                   computed ? " of Op" : "", computed ? tools_op_name((uint16_t)d->words[3]) : "");
        return false;
    }
    address->target = r->globals.by_id[w.id];
    address->at = w.at;
    if (!address->target) spirv_fail(r, user, "its initial value holds the address of a variable that has none");
    return address->target != NULL;
}
