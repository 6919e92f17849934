/* Values for specialization constants: each goes to a constant of the module, and has its size. */
#include <stdlib.h>

#include "ir/spirv/decode/reader.h"
#include "ir/base/strbuf.h"
#include "ir/text/text.h"

static uint32_t size_of(ir_type t)
{
    return ir_type_is_bool(t) ? 1 : ir_type_bits(t) / 8;
}

bool spirv_specialized(struct spirv_reader *r, const struct spirv_inst *i, uint64_t *bits)
{
    const uint32_t *id = spirv_decoration(r, i->id, SpvDecorationSpecId, NULL);
    for (size_t k = 0; id && k < r->options->n_constants; k++) {
        const struct ir_spirv_constant *c = &r->options->constants[k];
        char type[32];
        ir_type t = r->ids[i->type].type;
        if (c->id != id[0]) continue;
        r->specialized[k] = true;
        if (c->size && c->size != size_of(t))
            spirv_fail(r, NULL, "specialization constant %u is of type %s, %u bytes, but its value has %u", c->id,
                       ir_print_type(r->module, t, type, sizeof type), size_of(t), c->size);
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
    for (size_t k = 0; k < r->n_insts && n <= MOST; k++) {
        const struct spirv_inst *i = &r->insts[k];
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

void spirv_check_specialized(struct spirv_reader *r)
{
    const struct ir_spirv_options *o = r->options;
    for (size_t k = 0; k < o->n_constants; k++) {
        for (size_t other = 0; other < k; other++)
            if (o->constants[other].id == o->constants[k].id)
                spirv_fail(r, NULL, "specialization constant %u is given two values", o->constants[k].id);
        if (r->specialized[k] || r->failed) continue;
        char *known = known_ids(r);
        spirv_fail(r, NULL, "there is no specialization constant %u; the module has %s", o->constants[k].id, known);
        free(known);
    }
}
