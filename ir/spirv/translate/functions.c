/* Signatures first, so that bodies can call in any order. */
#include "ir/spirv/translate/functions.h"

#include "ir/spirv/cfg/cfg.h"
#include "ir/spirv/decode/functions.h"
#include "ir/spirv/translate/body.h"
#include "ir/spirv/translate/features.h"
#include "ir/spirv/translate/signatures.h"

/* A function whose signature cannot be told keeps nothing of it. */
static void refuse_function(struct spirv_function *f)
{
    if (f->no_signature) {
        f->ir->n_params = 0;
        f->ir->result = IR_VOID;
        if (f->ir->linkage == IR_LINKAGE_IMPORT) f->ir->linkage = IR_LINKAGE_INTERNAL;
    }
    ir_function_refuse(f->ir, f->refused);
}

void spirv_translate(struct spirv_reader *r)
{
    spirv_find_functions(r);
    spirv_make_signatures(r);
    if (r->findings->failed) return;
    struct cfg_ids ids = cfg_ids_new(r);
    struct spirv_binding *bindings = spirv_bindings_new(r);
    for (size_t k = 0; k < r->functions.n; k++) {
        struct spirv_function *f = &r->functions.items[k];
        if (f->has_body && !f->wraps && !f->refused) spirv_read_body(r, &ids, bindings, f);
        if (f->refused && f->ir) refuse_function(f);
    }
    spirv_read_features(r);
    for (size_t k = 0; k < r->functions.n; k++) {
        struct spirv_function *f = &r->functions.items[k];
        if (f->refused && f->ir && !f->ir->refused && f->has_body) refuse_function(f);
    }
}
