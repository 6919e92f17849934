/* Optional features of a module. */
#include "daemon/compiler/module_features.h"

#include <stdlib.h>
#include <string.h>

#include "daemon/compiler/known_targets.h"
#include "fuser/features/split.h"
#include "ir/base/arena.h"
#include "ir/base/strbuf.h"
#include "ir/features/pipes.h"
#include "ir/features/requirements.h"
#include "ir/features/warnings.h"

struct module_features {
    struct arena *arena;
    struct ir_module *module;
    struct module_units units;
    struct ir_usage *usage;
    struct split_entries entries;
    struct split_groups groups; /* of the module as a whole */
};

struct module_features *module_features_new(struct ir_module *module, struct module_units units)
{
    struct arena *a = arena_new();
    struct module_features *m = arena_alloc(a, sizeof *m);
    *m = (struct module_features){.arena = a, .module = module, .units = units, .entries.arena = a};
    split_find_entries(&m->entries, units.modules, units.n, module);
    m->groups = split_group(&m->entries, module, SPLIT_OFF);
    m->usage = ir_usage_new(module);
    return m;
}

void module_features_free(struct module_features *m)
{
    ir_usage_free(m->usage);
    arena_free(m->arena);
}

static void pack_name(struct proto_writer *w, const char *name)
{
    msgpack_pack_str_with_body(&w->packer, name, strlen(name));
}

/* What it requires with all that it reaches: aspects that are used and declared, and the targets that are left. */
void module_features_pack(struct module_features *m, struct proto_writer *w, const struct ir_function *f)
{
    struct ir_requirements r;
    uint8_t bits[IR_ASPECT_BITS];
    if (!ir_requirements_find(m->usage, f, &r, NULL))
        r = (struct ir_requirements){0}; /* module_check() has refused it */
    unsigned n = ir_aspects_in_order(f->module, r.aspects, bits);
    proto_pack_key(w, "aspects");
    msgpack_pack_array(&w->packer, n);
    for (unsigned i = 0; i < n; i++) pack_name(w, ir_module_aspect_name(f->module, bits[i]));
    proto_pack_key(w, "targets");
    msgpack_pack_array(&w->packer, r.n_targets);
    for (uint32_t i = 0; i < r.n_targets; i++) pack_name(w, r.targets[i]);
    ir_requirements_clear(&r);
    const struct split_entry *e = split_entry_of(&m->entries, f->name);
    proto_pack_uint(w, "image", e ? m->groups.group_of[e - m->entries.items] : 0);
}

enum { MOST_WARNINGS = 64 };

/* Texts that are shown to the user. */
struct warnings {
    struct strbuf list[MOST_WARNINGS];
    uint32_t n;
};

static bool keep_warning(void *data, const char *text)
{
    struct warnings *w = data;
    if (w->n == MOST_WARNINGS) return false;
    strbuf_add(&w->list[w->n++], text);
    return true;
}

static bool has_targets(const struct ir_module *m)
{
    for (uint32_t i = 0; i < m->n_functions; i++)
        if (m->functions[i]->n_targets) return true;
    return false;
}

/* Functions of other parts use what kernels that call them do not expect. */
static void warn_parts(struct module_features *m, struct warnings *all)
{
    struct split s;
    if (m->units.n < 2) return;
    if (split_linked(m->units.modules, m->units.n, m->module, SPLIT_OFF, &s, NULL, keep_warning, all)) split_clear(&s);
}

void module_features_pack_warnings(struct module_features *m, struct proto_writer *w)
{
    struct warnings all = {.n = 0};
    ir_warn_undeclared(m->usage, keep_warning, &all);
    if (has_targets(m->module)) ir_warn_targets(m->usage, known_targets(), keep_warning, &all);
    warn_parts(m, &all);
    ir_warn_pipes(m->module, keep_warning, &all);
    proto_pack_key(w, "warnings");
    msgpack_pack_array(&w->packer, all.n);
    for (uint32_t i = 0; i < all.n; i++) {
        char *text = strbuf_take(&all.list[i]);
        pack_name(w, text);
        free(text);
    }
}
