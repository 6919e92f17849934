/* Functions that the verifier does not take are refused, until it takes the rest. */
#include "ir/spirv/usable.h"

#include <stdlib.h>

#include "ir/base/strbuf.h"
#include "ir/link/unresolved.h"
#include "ir/verify/verify.h"

/* Functions whose bodies break a rule of the language are refused, too. False: what is broken is not a body. */
static bool refuse_broken(struct ir_module *m, const struct diag_list *findings, struct diag_list *list)
{
    bool some = false;
    for (size_t k = 0; k < findings->n; k++) {
        const struct diag *d = &findings->items[k];
        struct ir_function *f = d->function ? ir_module_find(m, d->function) : NULL;
        diag_add(list, d->function, d->block, d->line, 0, "%s", d->text);
        diag_set_file(list, d->file);
        if (!f || !f->body) return false;
        if (f->refused) continue;
        struct strbuf why = {0};
        if (d->line) strbuf_printf(&why, d->file ? "%s:%u: " : "%sline %u: ", d->file ? d->file : "", d->line);
        strbuf_add(&why, d->text);
        char *text = strbuf_take(&why);
        ir_function_refuse(f, text);
        free(text);
        some = true;
    }
    return some;
}

static bool verify_or_refuse(struct ir_module *m, struct diag_list *list)
{
    enum { ROUNDS = 4 };
    bool good = false, more = true;
    for (int round = 0; round < ROUNDS && more && !good; round++) {
        struct diag_list findings = {0};
        good = ir_verify(m, &findings);
        more = good || refuse_broken(m, &findings, list);
        diag_clear(&findings);
    }
    return good;
}

/* A module of which nobody could use anything is none. */
static bool is_of_use(const struct ir_module *m, bool variables_refused)
{
    bool refused = false;
    for (uint32_t k = 0; k < m->n_functions; k++) {
        const struct ir_function *f = m->functions[k];
        bool seen =
            f->linkage == IR_LINKAGE_KERNEL || f->linkage == IR_LINKAGE_EXPORT || f->linkage == IR_LINKAGE_EXPORT_ONCE;
        if (seen && !ir_find_refused(f)) return true;
        refused |= f->refused != NULL;
    }
    return !refused && !variables_refused;
}

bool spirv_keep_usable(struct ir_module *m, bool variables_refused, struct diag_list *list)
{
    return verify_or_refuse(m, list) && is_of_use(m, variables_refused);
}
