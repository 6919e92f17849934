/* A function's body: parameters, control flow, and what is left over. */
#include "ir/spirv/translate/body.h"

#include "ir/spirv/cfg/cfg.h"
#include "ir/spirv/decode/arg_types.h"
#include "ir/spirv/decode/fail.h"
#include "ir/spirv/decode/ids.h"
#include "ir/spirv/decode/names.h"
#include "ir/spirv/decode/types.h"
#include "ir/spirv/translate/dead_code.h"
#include "ir/spirv/translate/dispatch.h"
#include "ir/spirv/translate/structure.h"
#include "ir/spirv/translate/values/values.h"

static void bind_params(struct spirv_body *s)
{
    uint32_t n = 0;
    for (const struct spirv_inst *i = s->f->first; i < s->f->end && i->op != SpvOpLabel; i++) {
        if (i->op != SpvOpFunctionParameter) continue;
        struct ir_value *values[SPIRV_MAX_LEAVES];
        uint32_t leaves = spirv_leaves(s->r, i->type);
        for (uint32_t k = 0; k < leaves && n < s->ir->n_params; k++) {
            values[k] = s->ir->params[n++].value;
            if (values[k]->name) /* taken already */
                values[k]->name = spirv_unique_name(s->r, &s->names, values[k]->name, "p");
        }
        spirv_set_all(s, i->id, values);
    }
}

/* Types of results that have no counterpart, or too many parts, are told before anything relies on them. */
static void check_values(struct spirv_reader *r, const struct spirv_function *f)
{
    for (const struct spirv_inst *i = f->first; i < f->end; i++) {
        if (!i->type) continue;
        bool builtin = i->op != SpvOpFunction && !r->types[i->type].known &&
                       spirv_def(r, i->type)->op == SpvOpTypePointer &&
                       spirv_def(r, i->type)->words[2] == SpvStorageClassInput;
        if (builtin) continue; /* an address of a built-in variable, which is not a value */
        spirv_type(r, i, i->type);
        if (spirv_leaves(r, i->type) > SPIRV_MAX_LEAVES)
            spirv_fail(r, i, "gives a value of more than %d parts", SPIRV_MAX_LEAVES);
    }
}

struct spirv_binding *spirv_bindings_new(struct spirv_reader *r)
{
    return arena_alloc(r->arena, (size_t)r->index.bound * sizeof(struct spirv_binding));
}

/* Compilers without types of pointers write bytes for those that nobody uses: unless the source's type is kept, what
   they point at is not known. */
static void find_pointees(struct spirv_reader *r, const struct spirv_function *f)
{
    for (uint32_t i = 0; i < f->ir->n_params; i++) {
        struct ir_param *p = &f->ir->params[i];
        if (p->elem == IR_I8 && !p->by_value && !p->value->scratch) p->elem = IR_VOID;
    }
    spirv_read_arg_types(r, spirv_string(f->entry->words + 3), f->ir);
}

void spirv_read_body(struct spirv_reader *r, const struct cfg_ids *ids, struct spirv_binding *bindings,
                     struct spirv_function *f)
{
    struct spirv_body s = {
        .r = r, .f = f, .ir = f->ir, .names.arena = r->arena, .bindings = bindings, .emit = spirv_emit};
    spirv_begin_function(r, f);
    s.b = ir_builder_at_end(f->ir->body);
    check_values(r, f);
    if (!spirv_failed(r)) bind_params(&s);
    if (!spirv_failed(r) && cfg_build(&s.cfg, r, ids, f)) spirv_structure(&s);
    if (!spirv_failed(r)) spirv_remove_dead_code(f->ir);
    if (!spirv_failed(r) && f->entry) find_pointees(r, f);
    spirv_begin_function(r, NULL);
}
