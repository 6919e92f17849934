/* The order of the parts. */
#include "ir/verify/verify.h"

#include <stdlib.h>
#include <string.h>

#include "ir/analysis/barrier_divergence.h"
#include "ir/base/arena.h"
#include "ir/verify/aspects.h"
#include "ir/verify/calls.h"
#include "ir/verify/function.h"
#include "ir/verify/globals.h"
#include "ir/verify/names.h"
#include "ir/verify/report.h"
#include "ir/verify/types.h"

/* The lists of the module have no holes; without that nothing else can be looked at. */
static bool lists_ok(struct verifier *v)
{
    const struct ir_module *m = v->m;
    bool ok = true;
    ok &= (m->structs || !m->n_structs) && (m->arrays || !m->n_arrays) && (m->globals || !m->n_globals);
    ok &= (m->functions || !m->n_functions) && (m->files || !m->n_files);
    for (uint32_t i = 0; ok && i < m->n_structs; i++) ok = m->structs[i];
    for (uint32_t i = 0; ok && i < m->n_globals; i++) ok = m->globals[i];
    for (uint32_t i = 0; ok && i < m->n_functions; i++) ok = m->functions[i];
    for (uint32_t i = 0; ok && i < m->n_files; i++) ok = m->files[i];
    if (!ok) verify_report(v, "a list of the module has a hole");
    return ok;
}

static void *zeroed(size_t n, size_t size)
{
    return memset(arena_realloc(NULL, n * size), 0, n * size);
}

static void open_verifier(struct verifier *v)
{
    const struct ir_module *m = v->m;
    v->structs = zeroed(m->n_structs, sizeof *v->structs);
    v->arrays = zeroed(m->n_arrays, sizeof *v->arrays);
    for (uint32_t i = 0; i < m->n_globals; i++) m->globals[i]->scratch = i;
    for (uint32_t i = 0; i < m->n_functions; i++) m->functions[i]->scratch = i;
}

static void close_verifier(struct verifier *v)
{
    free(v->structs);
    free(v->arrays);
    free(v->visible);
    free(v->named);
}

static void verify_functions(struct verifier *v)
{
    const struct ir_module *m = v->m;
    const char **names = zeroed(m->n_functions, sizeof *names);
    for (uint32_t i = 0; i < m->n_functions; i++) {
        v->f = m->functions[i];
        names[i] = v->f->name;
        if (v->f->scratch != i) verify_report(v, "the module lists the function twice");
        verify_function(v, v->f);
    }
    v->f = NULL;
    verify_unique(v, names, m->n_functions, "functions");
    free(names);
}

/* Kernels that say for which work-groups they are: do all work-items come to each barrier? */
static void verify_barriers(struct verifier *v)
{
    for (uint32_t i = 0; i < v->m->n_functions; i++) {
        const struct ir_function *f = v->m->functions[i];
        struct ir_barrier_group group = {.size = {f->work_group_size[0], f->work_group_size[1], f->work_group_size[2]}};
        struct ir_barrier_divergence finding;
        if (f->linkage != IR_LINKAGE_KERNEL || !group.size[0] || !ir_find_barrier_divergence(f, &group, &finding))
            continue;
        v->f = f;
        v->inst = finding.at;
        v->block = finding.at->parent;
        verify_report(v, "%s", finding.text);
        v->f = NULL;
        v->inst = NULL;
        v->block = NULL;
    }
}

bool ir_verify(const struct ir_module *m, struct diag_list *list)
{
    struct verifier v = {.m = m, .list = list};
    if (!lists_ok(&v)) return false;
    open_verifier(&v);
    verify_types(&v);
    verify_globals(&v);
    verify_functions(&v);
    verify_module_aspects(&v);
    verify_calls(&v);
    if (v.n_findings == 0) verify_barriers(&v);
    close_verifier(&v);
    return v.n_findings == 0;
}

bool ir_verify_function(const struct ir_function *f, struct diag_list *list)
{
    struct verifier v = {.m = f->module, .list = list};
    if (!lists_ok(&v)) return false;
    open_verifier(&v);
    verify_types(&v);
    v.f = f;
    verify_function(&v, f);
    close_verifier(&v);
    return v.n_findings == 0;
}

bool ir_verify_types(const struct ir_module *m, struct diag_list *list)
{
    struct verifier v = {.m = m, .list = list};
    v.structs = zeroed(m->n_structs, sizeof *v.structs);
    v.arrays = zeroed(m->n_arrays, sizeof *v.arrays);
    verify_types(&v);
    close_verifier(&v);
    return v.n_findings == 0;
}
