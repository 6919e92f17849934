/* Calls of functions of the module, or of built-in ones; structs are returned through memory. */
#include "ir/spirv/translate/calls.h"

#include "ir/spirv/decode/fail.h"
#include "ir/spirv/decode/functions.h"
#include "ir/spirv/decode/ids.h"
#include "ir/spirv/decode/types.h"
#include "ir/spirv/translate/opencl_std/mangled.h"
#include "ir/spirv/translate/opencl_std/packed_dot.h"
#include "ir/spirv/translate/signatures.h"
#include "ir/spirv/translate/values/access.h"
#include "ir/spirv/translate/values/prologue.h"
#include "ir/spirv/translate/values/values.h"

static uint32_t push_values(struct spirv_body *s, const struct spirv_inst *i, uint32_t id, struct ir_value **args,
                            uint32_t n, uint32_t most)
{
    struct ir_value *const *values = spirv_values(s, i, id);
    uint32_t leaves = spirv_leaves(s->r, spirv_type_of(s->r, id));
    for (uint32_t k = 0; k < leaves && n < most; k++) args[n++] = values[k];
    return n;
}

bool spirv_emit_call(struct spirv_body *s, const struct spirv_inst *i)
{
    if (i->op != SpvOpFunctionCall) return false;
    struct spirv_function *f = spirv_function_of(s->r, i->words[3]);
    if (f && (spirv_emit_mangled(s, i, f) || spirv_emit_named_dot(s, i, f))) return true;
    if (f && f->no_signature) {
        spirv_fail(s->r, i, "calls %s, which cannot be read: %s", f->name, f->refused);
        return true;
    }
    if (!f || !f->ir || f->entry) {
        spirv_fail(s->r, i, "calls no function that can be called");
        return true;
    }
    uint32_t most = f->ir->n_params, n = 0;
    struct ir_value **args = arena_alloc(s->r->arena, (most + 1) * sizeof(*args));
    for (uint32_t k = 4; k < i->n; k++) n = push_values(s, i, i->words[k], args, n, most);
    struct ir_value *room = NULL;
    if (spirv_returns_struct(s->r, f) && n < most) {
        struct ir_builder b = spirv_prologue(s);
        room = ir_build_ptr(&b, IR_OP_VAR, spirv_result_type(s->r, i), IR_SPACE_PRIVATE, NULL, 0)->results[0];
        spirv_prologue_end(s, &b);
        args[n++] = room;
    }
    struct ir_inst *call = ir_build_call(&s->b, f->ir, args, n);
    uint32_t leaves = spirv_leaves(s->r, i->type);
    if (room) {
        struct ir_value **values = arena_alloc(s->r->arena, leaves * sizeof(*values));
        spirv_load(s, i, i->type, room, 0, false, values);
        spirv_set_all(s, i->id, values);
    } else if (leaves) {
        spirv_set(s, i, call->results[0]);
    }
    return true;
}

/* A struct is returned through a hidden last parameter. */
void spirv_emit_return(struct spirv_body *s, const struct spirv_inst *i)
{
    struct spirv_reader *r = s->r;
    uint32_t type = i->op == SpvOpReturnValue ? s->f->first->type : 0;
    uint32_t leaves = spirv_leaves(r, type);
    if (leaves > 0 && s->ir->result == IR_VOID) {
        struct ir_value *to = s->ir->params[s->ir->n_params - 1].value;
        spirv_store(s, i, type, to, 0, false, spirv_values(s, i, i->words[1]));
        leaves = 0;
    }
    struct ir_value *v = leaves ? spirv_value(s, i, i->words[1]) : NULL;
    ir_build(&s->b, IR_OP_RETURN, IR_VOID, &v, leaves != 0);
}
