/* From translation units to images. */
#include "fuser/features/split.h"

#include <stdlib.h>
#include <string.h>

#include "fuser/features/entries.h"
#include "fuser/features/groups.h"
#include "fuser/features/image_check.h"
#include "ir/base/arena.h"
#include "ir/link/link.h"
#include "ir/verify/verify.h"

struct splitter {
    const struct ir_module *const *units;
    uint32_t n_units;
    struct ir_module *whole; /* linked, or the unit where there is one alone; its scratch is used, and no more */
    struct split_entries entries;
    struct split *out;
    struct diag_list *findings;
    ir_warn *warn;
    void *data;
};

/* ---- making them ---- */

static bool is_own_entry(const struct split_image *image, const char *name)
{
    for (uint32_t i = 0; i < image->n_entries; i++)
        if (strcmp(image->entries[i], name) == 0) return true;
    return false;
}

static void add_entry(struct splitter *s, struct split_image *image, const struct split_entry *e)
{
    image->entries = arena_grow(s->out->arena, image->entries, image->n_entries, sizeof(*image->entries));
    image->entries[image->n_entries++] = arena_strndup(s->out->arena, e->f->name, strlen(e->f->name));
}

static void copy_functions(struct splitter *s, struct split_image *image, const struct split_groups *g, uint32_t k)
{
    struct ir_copy *c = ir_copy_open(image->module, s->whole);
    for (uint32_t i = g->first[k]; i < s->entries.n; i++) {
        if (g->group_of[i] != k) continue;
        add_entry(s, image, &s->entries.items[i]);
        ir_copy_signature(c, s->entries.items[i].f, s->entries.items[i].f->name);
    }
    ir_copy_bodies(c);
    ir_copy_close(c);
}

/* Exported functions that are only reached are the image's own: another image exports them. */
static void hide_reached(struct split_image *image)
{
    for (uint32_t i = 0; i < image->module->n_functions; i++) {
        struct ir_function *f = image->module->functions[i];
        bool exported = f->linkage == IR_LINKAGE_EXPORT || f->linkage == IR_LINKAGE_EXPORT_ONCE;
        if (exported && !is_own_entry(image, f->name)) f->linkage = IR_LINKAGE_INTERNAL;
    }
}

static bool make_image(struct splitter *s, const struct split_groups *g, uint32_t k)
{
    struct split_image *image = &s->out->images[k];
    const struct ir_module *m = s->whole;
    image->module = ir_module_new(m->name);
    s->out->n_images++;
    ir_module_copy_numbers(image->module, m);
    copy_functions(s, image, g, k);
    image_check(image->module, m, &s->entries, &s->entries.items[g->first[k]], s->out->arena, &image->requirements,
                s->warn, s->data);
    hide_reached(image);
    return ir_verify(image->module, s->findings);
}

/* Memory that can be written is one, in however many images it is. */
static void share_variables(struct splitter *s)
{
    struct names seen = {.arena = s->entries.arena};
    for (int round = 0; round < 2; round++)
        for (uint32_t k = 0; k < s->out->n_images; k++) {
            struct ir_module *m = s->out->images[k].module;
            for (uint32_t i = 0; i < m->n_globals; i++) {
                struct ir_global *v = m->globals[i];
                uintptr_t *count = (uintptr_t *)names_put(&seen, v->name, strlen(v->name));
                bool shared = v->space == IR_SPACE_GLOBAL || v->linkage == IR_LINKAGE_EXPORT;
                if (round == 0)
                    ++*count;
                else if (*count > 1 && shared && v->linkage != IR_LINKAGE_IMPORT)
                    v->linkage = IR_LINKAGE_EXPORT_ONCE;
            }
        }
}

bool split_linked(const struct ir_module *const *units, uint32_t n, struct ir_module *whole, enum split_mode mode,
                  struct split *out, struct diag_list *findings, ir_warn *warn, void *data)
{
    struct splitter s = {units, n, whole, .out = out, .findings = findings, .warn = warn, .data = data};
    bool good = true;
    *out = (struct split){.arena = arena_new()};
    s.entries.arena = arena_new();
    split_find_entries(&s.entries, units, n, whole);
    struct split_groups g = split_group(&s.entries, whole, mode);
    out->images = arena_alloc(out->arena, (g.n + 1) * sizeof *out->images);
    for (uint32_t k = 0; k < g.n && good; k++) good = make_image(&s, &g, k);
    share_variables(&s);
    arena_free(s.entries.arena);
    if (!good) split_clear(out);
    return good;
}

bool split_modules(const struct ir_module *const *units, uint32_t n, enum split_mode mode, struct split *out,
                   struct diag_list *findings, ir_warn *warn, void *data)
{
    *out = (struct split){0};
    if (n == 1) return split_linked(units, n, (struct ir_module *)units[0], mode, out, findings, warn, data);
    struct ir_module *linked = ir_link(units, n, units[0]->name, findings);
    bool good = linked && split_linked(units, n, linked, mode, out, findings, warn, data);
    ir_module_free(linked);
    return good;
}

void split_clear(struct split *s)
{
    for (uint32_t i = 0; i < s->n_images; i++) ir_module_free(s->images[i].module);
    if (s->arena) arena_free(s->arena);
    *s = (struct split){0};
}
