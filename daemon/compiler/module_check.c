/* Contradictions of a module with itself that are found by looking at what its kernels do. */
#include "daemon/compiler/module_check.h"

#include <stdio.h>
#include <stdlib.h>

#include "fuser/access/access.h"
#include "ir/features/requirements.h"

static bool declares_reads(const struct ir_function *f)
{
    for (uint32_t i = 0; i < f->n_params; i++)
        if (f->params[i].access == IR_ACCESS_READ) return true;
    return false;
}

static int refuse_write(const struct ir_function *f, uint32_t param, uint32_t line, const char *name, struct error *e)
{
    char object[600], place[64] = "";
    const char *parameter = f->params[param].value->name;
    snprintf(object, sizeof object, "module %.255s", name);
    if (line) snprintf(place, sizeof place, " in line %u", line);
    error_set(e, FUSION_INVALID, object, "kernel %s declares parameter %u (%%%s) to be read only, but writes it%s",
              f->name, param, parameter ? parameter : "", place);
    return -1;
}

static int check_kernel(const struct ir_function *f, const char *name, struct error *e)
{
    const struct nd_range any = {.dims = 3, .global = {1 << 20, 1 << 20, 1 << 20}};
    if (f->linkage != IR_LINKAGE_KERNEL || f->refused || !declares_reads(f)) return 0;
    struct access_analysis *a = access_analyse(f, &any, 0, false, NULL);
    int result = 0;
    for (uint32_t i = 0; i < f->n_params && result == 0; i++) {
        const struct access_summary *s = &a->params[i];
        if (f->params[i].access != IR_ACCESS_READ || !s->writes) continue;
        uint32_t line = 0;
        for (uint32_t k = 0; k < s->n_sites && !line; k++)
            if (s->sites[k].writes) line = s->sites[k].line;
        result = refuse_write(f, i, line, name, e);
    }
    access_analysis_free(a);
    return result;
}

/* Functions that kernels reach are for targets that have one in common. */
static int check_targets(const struct ir_module *m, const char *name, struct error *e)
{
    struct ir_usage *u = ir_usage_new(m);
    char *why = NULL;
    for (uint32_t i = 0; i < m->n_functions && !why; i++) {
        struct ir_requirements r = {0};
        if (m->functions[i]->linkage == IR_LINKAGE_KERNEL) ir_requirements_find(u, m->functions[i], &r, &why);
        ir_requirements_clear(&r);
    }
    ir_usage_free(u);
    if (!why) return 0;
    char object[300];
    snprintf(object, sizeof object, "module %.255s", name);
    error_set(e, FUSION_INVALID, object, "kernel %s", why);
    free(why);
    return -1;
}

int module_check(const struct ir_module *m, const char *name, struct error *e)
{
    if (!m->n_functions && !m->n_globals) {
        char object[300];
        snprintf(object, sizeof object, "module %.255s", name);
        error_set(e, FUSION_INVALID, object, "there is neither a kernel nor a function or variable in it");
        return -1;
    }
    for (uint32_t i = 0; i < m->n_functions; i++)
        if (check_kernel(m->functions[i], name, e) != 0) return -1;
    return check_targets(m, name, e);
}
