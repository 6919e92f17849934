/* OpenCL.std: printf. The arguments go into private memory one behind the other, as ir/printf/format.h says. */
#include "ir/spirv/translate/opencl_std/printf.h"

#include <spirv/unified1/OpenCL.std.h>

#include "ir/printf/format.h"
#include "ir/spirv/base/budget.h"
#include "ir/spirv/decode/fail.h"
#include "ir/spirv/decode/types.h"
#include "ir/spirv/translate/values/prologue.h"
#include "ir/spirv/translate/values/values.h"

enum {
    FORMAT = 5,
    FIRST_ARG = 6,
    WORD = 8,
    COST = 100,
    ARG_COST = 180 /* of the budget for values, by the memory they take */
};

/* What an argument takes, with the word before it. */
struct place {
    enum ir_format_kind kind;
    unsigned bytes, lanes;
    uint64_t room;
};

static bool find_argument(const struct ir_value *v, struct place *p)
{
    ir_type t = v->type;
    if (!ir_type_is_number(t) && !ir_type_is_ptr(t)) return false;
    bool pointer = ir_type_is_ptr(t), integer = ir_type_is_int(t) || ir_type_is_bool(t);
    *p = (struct place){.kind = pointer   ? IR_FORMAT_POINTER
                                : integer ? IR_FORMAT_INT
                                          : IR_FORMAT_FLOAT,
                        .bytes = pointer || ir_type_bits(t) < 8 ? pointer ? 8 : 1 : ir_type_bits(t) / 8,
                        .lanes = pointer ? 1 : ir_type_lanes(t)};
    p->room = WORD + ir_format_room(p->bytes, p->lanes);
    return true;
}

static void store(struct spirv_body *s, struct ir_value *memory, uint64_t at, struct ir_value *v)
{
    struct ir_value *words = spirv_int(s, IR_I64, at / WORD);
    struct ir_value *place = ir_build2(&s->b, IR_OP_ELEM, IR_I64, memory, words);
    struct ir_inst *inst = ir_build(&s->b, IR_OP_STORE, v->type, (struct ir_value *[]){place, v}, 2);
    if (ir_type_align(s->r->module, v->type) > WORD) inst->attrs.align = WORD;
}

/* Each argument becomes a dozen things: no more of them than a module of its size has. */
static bool spend_on_arguments(struct spirv_body *s, const struct spirv_inst *i)
{
    uint64_t cost = COST + (uint64_t)ARG_COST * (i->n - FIRST_ARG + 0u);
    bool good = spirv_spend(&s->r->budget->values, cost);
    if (!good)
        spirv_fail(s->r, i, "printf: %u arguments are too many for a module of %zu bytes", i->n - FIRST_ARG + 0u,
                   s->r->n_bytes);
    return good;
}

static void emit_printf(struct spirv_body *s, const struct spirv_inst *i)
{
    struct place p;
    uint64_t bytes = WORD; /* of the word that ends them */
    struct ir_value *format = spirv_value(s, i, i->words[FORMAT]);
    for (uint32_t k = FIRST_ARG; k < i->n && !spirv_failed(s->r); k++) {
        if (find_argument(spirv_value(s, i, i->words[k]), &p))
            bytes += p.room;
        else
            spirv_fail(s->r, i, "printf: argument %u is neither a number nor a pointer", k - FIRST_ARG + 1);
    }
    if (spirv_failed(s->r)) return;
    if (s->r->module->n_arrays >= IR_MAX_ARRAYS) {
        spirv_fail(s->r, i, "printf: the module has too many array types");
        return;
    }
    ir_type t = ir_array_type(s->r->module, IR_I64, bytes / WORD);
    struct ir_builder b = spirv_prologue(s);
    struct ir_value *memory = ir_build_ptr(&b, IR_OP_VAR, t, IR_SPACE_PRIVATE, NULL, 0)->results[0];
    spirv_prologue_end(s, &b);
    uint64_t at = 0;
    for (uint32_t k = FIRST_ARG; k < i->n; k++) {
        struct ir_value *v = spirv_value(s, i, i->words[k]);
        find_argument(v, &p);
        store(s, memory, at, spirv_int(s, IR_I64, ir_format_word(p.kind, p.bytes, p.lanes)));
        store(s, memory, at + WORD, v);
        at += p.room;
    }
    store(s, memory, at, spirv_int(s, IR_I64, 0));
    struct ir_value *operands[] = {ir_build0(&s->b, IR_OP_GLOBAL_LINEAR_ID, IR_VOID), format, memory};
    struct ir_value *r = ir_build(&s->b, IR_OP_PRINTF, t, operands, 3)->results[0];
    spirv_set(s, i, spirv_as_int(s, r, spirv_result_type(s->r, i)));
}

bool spirv_ext_printf(struct spirv_body *s, const struct spirv_inst *i)
{
    if (i->words[4] != OpenCLstd_Printf) return false;
    if (i->n <= FORMAT)
        spirv_fail(s->r, i, "printf without a format");
    else if (spend_on_arguments(s, i))
        emit_printf(s, i);
    return true;
}
