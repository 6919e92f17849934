/* Initial values as bytes, and the addresses in them. */
#include "ir/spirv/decode/initial_values.h"

#include <string.h>

#include "ir/spirv/decode/fail.h"
#include "ir/spirv/decode/ids.h"
#include "ir/spirv/decode/initial_address.h"

struct init {
    struct spirv_reader *r;
    const struct spirv_inst *user;
    struct ir_global *g;
    uint8_t *bytes; /* of its value */
    bool failed;
};

static void write_number(const struct init *in, const struct ir_value *v, uint8_t *bytes)
{
    (void)in;
    if (v->kind != IR_VALUE_CONST) return; /* undefined: zero will do */
    unsigned size = ir_type_bits(v->type) / 8;
    if (!size) size = 1;
    for (unsigned k = 0; k < ir_type_lanes(v->type); k++) memcpy(bytes + k * size, &v->of.lanes[k], size);
}

/* An address takes of the budget what it takes of memory. */
static void write_address(struct init *in, uint32_t id, uint8_t *bytes)
{
    struct spirv_reader *r = in->r;
    struct ir_address address = {.offset = (uint64_t)(bytes - in->bytes)};
    uint64_t cost = 2 * sizeof address;
    in->failed = true;
    if (!spirv_spend(&r->budget->initial_values, cost)) {
        spirv_fail(r, in->user, "initial values are too large for a module of %zu bytes", r->n_bytes);
        return;
    }
    if (!spirv_initial_address(r, in->user, id, &address)) return;
    if (address.target)
        ir_global_add_address(r->module, in->g, &address);
    else
        memcpy(bytes, &address.at, sizeof address.at);
    in->failed = false;
}

/* As deep as types are inside each other. */
static void write_init(struct init *in, uint32_t id, uint8_t *bytes)
{
    struct spirv_reader *r = in->r;
    const struct spirv_inst *d = spirv_def(r, id);
    if (in->failed || d->op == SpvOpConstantNull || d->op == SpvOpUndef) return;
    if (r->constants[id]) {
        write_number(in, r->constants[id], bytes);
    } else if (d->op == SpvOpConstantComposite || d->op == SpvOpSpecConstantComposite) {
        ir_type t = r->types[d->type].ir;
        const struct ir_struct *s = ir_type_struct(r->module, t);
        const struct ir_array *a = ir_type_array(r->module, t);
        uint64_t step = a ? ir_type_size(r->module, a->element) : 0;
        for (uint32_t k = 3; k < d->n; k++)
            write_init(in, d->words[k], bytes + (s ? s->fields[k - 3].offset : (k - 3) * step));
    } else {
        write_address(in, id, bytes);
    }
}

void spirv_initialize(struct spirv_reader *r, const struct spirv_inst *i, struct ir_global *g, uint32_t id)
{
    const struct spirv_inst *d = spirv_def(r, id);
    uint64_t size = ir_type_size(r->module, g->type);
    if (d->op == SpvOpConstantNull || d->op == SpvOpUndef) return;
    if (!spirv_spend(&r->budget->initial_values, size)) {
        spirv_fail(r, i, "initial values are too large for a module of %zu bytes", r->n_bytes);
        return;
    }
    struct init in = {.r = r, .user = i, .g = g, .bytes = ir_alloc(r->module, size)};
    g->init = in.bytes;
    write_init(&in, id, in.bytes);
    ir_global_sort_addresses(g);
}
