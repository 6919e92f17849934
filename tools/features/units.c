/* Translation units. */
#include "tools/features/units.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ir/features/pipes.h"
#include "ir/features/warnings.h"
#include "tools/features/modules.h"

bool units_warn(void *data, const char *text)
{
    (void)data;
    fprintf(stderr, "%s\n", text);
    return true;
}

/* Every function that is defined is for these targets, but those that say something themselves. */
static void fix_targets(struct ir_module *m, const char *fixed)
{
    const char **list = NULL;
    uint32_t n = 0;
    char *copy = ir_strdup(m, fixed);
    for (char *name; (name = strsep(&copy, ","));) {
        if (!*name) continue;
        const char **longer = ir_alloc(m, (n + 1) * sizeof *longer);
        for (uint32_t i = 0; i < n; i++) longer[i] = list[i];
        longer[n++] = name;
        list = longer;
    }
    for (uint32_t i = 0; i < m->n_functions; i++) {
        struct ir_function *f = m->functions[i];
        if (f->has_targets || f->linkage == IR_LINKAGE_IMPORT) continue;
        f->has_targets = true;
        f->n_targets = n;
        f->targets = list;
    }
}

static bool targets_known(const struct device_config *c, const char *fixed, struct error *e)
{
    char *copy = strdup(fixed), *rest = copy;
    bool good = true;
    for (char *name; good && (name = strsep(&rest, ","));)
        if (*name && !device_config_find(c, name))
            good = error_set(e, 1, "--fixed-targets", "there is no target %s", name) == 0;
    free(copy);
    return good;
}

static void show_warnings(const struct ir_module *m, const struct device_config *c)
{
    struct ir_usage *u = ir_usage_new(m);
    ir_warn_undeclared(u, units_warn, NULL);
    ir_warn_pipes(m, units_warn, NULL);
    ir_warn_targets(u, &c->targets, units_warn, NULL);
    ir_usage_free(u);
}

bool units_read(struct units *u, uint32_t n, char *const *paths, const char *fixed, const struct device_config *c,
                struct error *e)
{
    *u = (struct units){.modules = calloc(n + 1, sizeof *u->modules)};
    error_clear(e);
    if (!u->modules || (fixed && !targets_known(c, fixed, e))) return false;
    for (; u->n < n; u->n++) {
        struct ir_module *m = u->modules[u->n] = module_read(paths[u->n]);
        if (!m) return false;
        if (fixed) fix_targets(m, fixed);
        show_warnings(m, c);
    }
    return true;
}

void units_clear(struct units *u)
{
    for (uint32_t i = 0; u->modules && i < u->n; i++) ir_module_free(u->modules[i]);
    free(u->modules);
    *u = (struct units){0};
}
