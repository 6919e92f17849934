/* Values for specialization constants: each goes to a constant of the module, and has its size. */
#include "ir/spirv/decode/specialize.h"

#include <stdlib.h>

#include "ir/base/strbuf.h"
#include "ir/spirv/decode/decorations.h"
#include "ir/text/print/print_type.h"

static uint32_t size_of(ir_type t)
{
    return ir_type_is_bool(t) ? 1 : ir_type_bits(t) / 8;
}

bool spirv_specialized(struct spirv_reader *r, const struct spirv_inst *i, uint64_t *bits)
{
    const uint32_t *id = spirv_decoration(r, i->id, SpvDecorationSpecId, NULL);
    for (size_t k = 0; id && k < r->specialization.options->n_constants; k++) {
        const struct ir_spirv_constant *c = &r->specialization.options->constants[k];
        char type[32];
        ir_type t = r->types[i->type].ir;
        if (c->id != id[0]) continue;
        r->specialization.used[k] = true;
        if (c->size && c->size != size_of(t))
            spirv_fail_module(r->findings, "specialization constant %u is of type %s, %u bytes, but its value has %u",
                              c->id, ir_print_type(r->module, t, type, sizeof type), size_of(t), c->size);
        *bits = c->bits;
        return true;
    }
    return false;
}

/* "3, 4, 7": what there is. */
static char *known_ids(const struct spirv_reader *r)
{
    enum { MOST = 20 };
    struct strbuf text = {0};
    uint32_t n = 0;
    for (size_t k = 0; k < r->index.n_insts && n <= MOST; k++) {
        const struct spirv_inst *i = &r->index.insts[k];
        if (i->op < SpvOpSpecConstantTrue || i->op > SpvOpSpecConstant) continue;
        const uint32_t *id = spirv_decoration(r, i->id, SpvDecorationSpecId, NULL);
        if (!id) continue;
        if (n++ == MOST)
            strbuf_add(&text, " and more");
        else
            strbuf_printf(&text, "%s%u", n > 1 ? ", " : "", id[0]);
    }
    if (!n) strbuf_add(&text, "none");
    return strbuf_take(&text);
}

void spirv_specialize(struct spirv_reader *r, const struct ir_spirv_options *options)
{
    r->specialization.options = options;
    r->specialization.used = arena_alloc(r->arena, options->n_constants * sizeof *r->specialization.used);
}

void spirv_check_specialized(struct spirv_reader *r)
{
    const struct ir_spirv_options *o = r->specialization.options;
    for (size_t k = 0; k < o->n_constants; k++) {
        for (size_t other = 0; other < k; other++)
            if (o->constants[other].id == o->constants[k].id)
                spirv_fail_module(r->findings, "specialization constant %u is given two values", o->constants[k].id);
        if (r->specialization.used[k] || r->findings->failed) continue;
        char *known = known_ids(r);
        spirv_fail_module(r->findings, "there is no specialization constant %u; the module has %s", o->constants[k].id,
                          known);
        free(known);
    }
}
