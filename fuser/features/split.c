/* From translation units to images. */
#include "fuser/features/split.h"

#include <stdlib.h>
#include <string.h>

#include "fuser/features/entries.h"
#include "fuser/features/image_check.h"
#include "ir/base/arena.h"
#include "ir/link/link.h"
#include "ir/verify/verify.h"

/* An image to be: its first entry, and all of them by their `group`. */
struct grouping {
    uint32_t n;
    uint32_t *first;    /* by group */
    uint32_t *group_of; /* by entry */
};

struct splitter {
    const struct ir_module *const *units;
    uint32_t n_units;
    struct ir_module *linked; /* NULL: there is one unit alone */
    struct ir_module *whole;
    struct split_entries entries;
    struct split *out;
    struct diag_list *findings;
    ir_warn *warn;
    void *data;
};

bool split_mode_parse(const char *word, enum split_mode *mode)
{
    static const char *const words[] = {"off", "per_source", "per_kernel", "auto"};
    for (unsigned i = 0; i < sizeof words / sizeof *words; i++) {
        if (strcmp(word, words[i]) != 0) continue;
        *mode = (enum split_mode)i;
        return true;
    }
    return false;
}

/* ---- which are together ---- */

static bool together(const struct split_entry *a, const struct split_entry *b, enum split_mode mode)
{
    return mode != SPLIT_PER_KERNEL && (mode != SPLIT_PER_SOURCE || a->unit == b->unit) && split_may_share(a, b);
}

static struct grouping group(const struct splitter *s, enum split_mode mode)
{
    const struct split_entries *e = &s->entries;
    struct grouping g = {.first = arena_alloc(e->arena, (e->n + 1) * sizeof *g.first),
                         .group_of = arena_alloc(e->arena, (e->n + 1) * sizeof *g.group_of)};
    for (uint32_t i = 0; i < e->n; i++) {
        uint32_t k = 0;
        while (k < g.n && !together(&e->items[g.first[k]], &e->items[i], mode)) k++;
        if (k == g.n) g.first[g.n++] = i;
        g.group_of[i] = k;
    }
    return g;
}

/* ---- what the best way is ---- */

struct count {
    const struct ir_module *m;
    const struct ir_function **reached;
    uint32_t n;
    bool *seen;
    uint64_t insts;
};

static void reach(struct count *c, const struct ir_function *f)
{
    if (c->seen[f->scratch]) return;
    c->seen[f->scratch] = true;
    c->reached[c->n++] = f;
}

static void count_inst(struct ir_inst *inst, void *data)
{
    struct count *c = data;
    c->insts++;
    if (inst->op == IR_OP_CALL) reach(c, inst->attrs.callee);
}

/* Instructions of all images. */
static uint64_t size_of(const struct splitter *s, const struct grouping *g)
{
    const struct ir_module *m = s->whole;
    struct arena *a = arena_new();
    struct count c = {.m = m, .reached = arena_alloc(a, (m->n_functions + 1) * sizeof(*c.reached))};
    for (uint32_t i = 0; i < m->n_functions; i++) m->functions[i]->scratch = i;
    for (uint32_t k = 0; k < g->n; k++) {
        c.seen = arena_alloc(a, m->n_functions + 1);
        c.n = 0;
        for (uint32_t i = g->first[k]; i < s->entries.n; i++)
            if (g->group_of[i] == k) reach(&c, s->entries.items[i].f);
        for (uint32_t i = 0; i < c.n; i++)
            if (c.reached[i]->body) ir_walk(c.reached[i]->body, count_inst, &c);
    }
    arena_free(a);
    return c.insts;
}

/* By sources, unless half as much again would be in the images for it. */
static struct grouping group_best(const struct splitter *s)
{
    struct grouping one = group(s, SPLIT_OFF), by_source = group(s, SPLIT_PER_SOURCE);
    return size_of(s, &by_source) > size_of(s, &one) / 2 * 3 ? one : by_source;
}

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

static void copy_functions(struct splitter *s, struct split_image *image, const struct grouping *g, uint32_t k)
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

static bool make_image(struct splitter *s, const struct grouping *g, uint32_t k)
{
    struct split_image *image = &s->out->images[k];
    const struct ir_module *m = s->whole;
    image->module = ir_module_new(m->name);
    s->out->n_images++;
    for (uint32_t i = 0; i < m->n_aspect_numbers; i++)
        ir_module_number_aspect(image->module, m->aspect_numbers[i].name, m->aspect_numbers[i].number);
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

bool split_modules(const struct ir_module *const *units, uint32_t n, enum split_mode mode, struct split *out,
                   struct diag_list *findings, ir_warn *warn, void *data)
{
    struct splitter s = {units, n, .out = out, .findings = findings, .warn = warn, .data = data};
    *out = (struct split){.arena = arena_new()};
    s.linked = n > 1 ? ir_link(units, n, units[0]->name, findings) : NULL;
    s.whole = n > 1 ? s.linked : (struct ir_module *)units[0]; /* its scratch is used, and no more */
    bool good = s.whole != NULL;
    s.entries.arena = arena_new();
    if (good) {
        split_find_entries(&s.entries, units, n, s.whole);
        struct grouping g = mode == SPLIT_AUTO ? group_best(&s) : group(&s, mode);
        out->images = arena_alloc(out->arena, (g.n + 1) * sizeof *out->images);
        for (uint32_t k = 0; k < g.n && good; k++) good = make_image(&s, &g, k);
        share_variables(&s);
    }
    arena_free(s.entries.arena);
    ir_module_free(s.linked);
    if (!good) split_clear(out);
    return good;
}

void split_clear(struct split *s)
{
    for (uint32_t i = 0; i < s->n_images; i++) ir_module_free(s->images[i].module);
    if (s->arena) arena_free(s->arena);
    *s = (struct split){0};
}
