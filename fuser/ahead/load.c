/* Reading bundles. Nothing in one is trusted: it is a client's. */
#include "fuser/ahead/load.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fuser/cpu/abi/kernel_abi.h"
#include "fuser/cpu/object/check_object.h"
#include "fuser/features/bundle.h"
#include "fuser/features/file_table.h"
#include "fuser/features/property_set.h"
#include "ir/base/arena.h"
#include "ir/base/diag.h"
#include "ir/msgpack/codec.h"

enum { MAX_LANES = 64 };

struct reader {
    struct ahead_load *b;
    struct bundle files;
    struct ir_module *module;
    struct names kernels;
    const char *object; /* what errors are about */
    bool foreign;       /* code is called in another way here */
    struct error *e;
};

static int fail(struct reader *r, const char *member, const char *why)
{
    return error_set(r->e, 1, r->object, "member %.200s of the bundle: %s", member, why);
}

/* ---- tables ---- */

/* Reads one; columns[i] gets the place of names[i]. 0, or -1 with the error. */
static int read_table(struct reader *r, const char *member, const char *const *names, unsigned n, struct file_table *t,
                      int *columns)
{
    struct error e;
    const char *text = bundle_text(&r->files, member);
    if (!text) return fail(r, member, "there is no such text");
    if (file_table_read(t, text, member, &e) != 0) return fail(r, member, e.reason);
    for (unsigned i = 0; i < n; i++) {
        columns[i] = file_table_column(t, names[i]);
        if (columns[i] < 0) return fail(r, member, "it lacks a column");
    }
    return 0;
}

/* ---- code ---- */

/* Of two for this processor the later one is better. -1: not for it. */
static int rank_of(const struct ahead_load *b, const char *target)
{
    int rank = -1;
    for (uint32_t i = 0; i < b->n_targets; i++)
        if (strncmp(target, "x86_64", 6) == 0 && strcmp(b->targets[i], target) == 0) rank = (int)i;
    return rank;
}

static bool is_same(const struct ahead_code *a, const struct ahead_code *b)
{
    return a->launch_size == b->launch_size && memcmp(a->launch, b->launch, a->launch_size) == 0;
}

static void keep_object(struct ahead_load *b, const struct ahead_code *c)
{
    for (uint32_t i = 0; i < b->n_objects; i++) {
        struct ahead_code *other = &b->objects[i];
        if (!is_same(other, c)) continue;
        if (rank_of(b, c->target) > rank_of(b, other->target)) *other = *c;
        return;
    }
    b->objects = arena_grow(b->arena, b->objects, b->n_objects, sizeof *b->objects);
    b->objects[b->n_objects++] = *c;
}

static int keep_code(struct reader *r, const char *member, struct ahead_code *c)
{
    bool binary = strncmp(c->target, "intel_gpu_", 10) == 0;
    if (r->foreign) return 0;
    if (!binary && rank_of(r->b, c->target) < 0) return 0;
    if (binary) {
        r->b->binaries = arena_grow(r->b->arena, r->b->binaries, r->b->n_binaries, sizeof *r->b->binaries);
        r->b->binaries[r->b->n_binaries++] = *c;
        return 0;
    }
    const char *wrong = check_object(c->object, c->object_size);
    if (!wrong && (!c->lanes || c->lanes > MAX_LANES)) wrong = "an object does not compute 1 to 64 work-items at once";
    if (wrong) return fail(r, member, wrong);
    keep_object(r->b, c);
    return 0;
}

/* Code of no launch (SPIR-V, say) is for others. */
static int read_code(struct reader *r, const char *target, const char *member)
{
    enum { LAUNCH, OBJECT, LANES, EFFORT, COLUMNS };
    static const char *const names[COLUMNS] = {BUNDLE_LAUNCH, BUNDLE_OBJECT, BUNDLE_LANES, BUNDLE_EFFORT};
    struct file_table t;
    int columns[COLUMNS];
    file_table_init(&t);
    int result = read_table(r, member, names, COLUMNS, &t, columns);
    for (size_t i = 0; i < t.n_rows && result == 0; i++) {
        const char *const *cells = t.rows[i].cells;
        if (!*cells[columns[LAUNCH]]) continue;
        const struct bundle_member *launch = bundle_find(&r->files, cells[columns[LAUNCH]]);
        const struct bundle_member *object = bundle_find(&r->files, cells[columns[OBJECT]]);
        if (!launch || !object) {
            result = fail(r, member, "it names what is not there");
            break;
        }
        const char *effort = arena_strndup(r->b->arena, cells[columns[EFFORT]], strlen(cells[columns[EFFORT]]));
        struct ahead_code c = {target,       launch->bytes, object->bytes,
                               launch->size, object->size,  strtoull(cells[columns[LANES]], NULL, 10),
                               effort};
        result = keep_code(r, member, &c);
    }
    file_table_clear(&t);
    return result;
}

/* ---- images ---- */

static bool has_target(const struct ir_function *f, const char *target)
{
    for (uint32_t i = 0; i < f->n_compiled; i++)
        if (strcmp(f->compiled[i], target) == 0) return true;
    return false;
}

/* Exported functions are among them, too: they are what kernels of others are linked with. */
static int mark_kernels(struct reader *r, const char *target, const char *member)
{
    const char *text = bundle_text(&r->files, member);
    if (!text) return fail(r, member, "there is no such text");
    for (size_t n; *text; text += n + (text[n] == '\n')) {
        n = strcspn(text, "\n");
        struct ir_function *f = names_get(&r->kernels, text, n);
        if (!f || has_target(f, target)) continue;
        f->compiled = arena_grow(r->module->arena, f->compiled, f->n_compiled, sizeof *f->compiled);
        f->compiled[f->n_compiled++] = ir_strdup(r->module, target);
    }
    return 0;
}

/* What an image requires is looked up in its kernels; but a file that cannot be read is none of ours. */
static int check_properties(struct reader *r, const char *member)
{
    struct property_set s;
    struct error e;
    const char *text = bundle_text(&r->files, member);
    if (!text) return fail(r, member, "there is no such text");
    return property_set_read(&s, r->files.arena, text, member, &e) < 0 ? fail(r, member, e.reason) : 0;
}

static int read_images(struct reader *r)
{
    enum { TARGET, PROPERTIES, SYMBOLS, CODE, COLUMNS };
    static const char *const names[COLUMNS] = {"Target", "Properties", "Symbols", "Code"};
    struct file_table t;
    int columns[COLUMNS];
    file_table_init(&t);
    int result = read_table(r, BUNDLE_TABLE, names, COLUMNS, &t, columns);
    for (size_t i = 0; i < t.n_rows && result == 0; i++) {
        const char *const *cells = t.rows[i].cells;
        const char *target = arena_strndup(r->b->arena, cells[columns[TARGET]], strlen(cells[columns[TARGET]]));
        if (!*target) result = fail(r, BUNDLE_TABLE, "a target has no name");
        if (result == 0) result = check_properties(r, cells[columns[PROPERTIES]]);
        if (result == 0) result = mark_kernels(r, target, cells[columns[SYMBOLS]]);
        if (result == 0) result = read_code(r, target, cells[columns[CODE]]);
    }
    file_table_clear(&t);
    return result;
}

/* ---- all of it ---- */

/* A saved executable: of a version that we know? Code that is called in another way than here is as good as none. */
static int read_executable(struct reader *r)
{
    struct ahead_executable *x = &r->b->executable;
    const struct bundle_member *graph = bundle_find(&r->files, BUNDLE_GRAPH);
    const struct bundle_member *options = bundle_find(&r->files, BUNDLE_OPTIONS);
    unsigned form, kernels;
    char name[32];
    if (!graph) return r->b->part ? fail(r, BUNDLE_GRAPH, "it is not there") : 0;
    const char *version = bundle_text(&r->files, BUNDLE_VERSION);
    if (!version || sscanf(version, AHEAD_VERSION, &form, &kernels) != 2)
        return fail(r, BUNDLE_VERSION, "it is not there, or says nothing");
    r->b->other_version = form != AHEAD_FORM;
    if (r->b->other_version) return fail(r, BUNDLE_VERSION, "another version of fusiond saved this executable");
    if (!options) return fail(r, BUNDLE_OPTIONS, "it is not there");
    r->foreign = kernels != KERNEL_ABI_VERSION;
    *x = (struct ahead_executable){graph->bytes, options->bytes, graph->size, options->size, 0};
    do ahead_module_name(++x->n_modules, name);
    while (bundle_find(&r->files, name));
    return 0;
}

void ahead_module_name(uint32_t part, char name[static 32])
{
    snprintf(name, 32, part ? "module.%u.fk" : BUNDLE_MODULE, part);
}

static int read_module(struct reader *r)
{
    struct diag_list findings = {0};
    char name[32];
    ahead_module_name(r->b->part, name);
    const struct bundle_member *member = bundle_find(&r->files, name);
    if (!member) return fail(r, name, "it is not there");
    r->module = ir_decode(member->bytes, member->size, &findings);
    if (!r->module) {
        char *text = diag_format(&findings);
        fail(r, name, text);
        free(text);
    }
    diag_clear(&findings);
    for (uint32_t i = 0; r->module && i < r->module->n_functions; i++) {
        struct ir_function *f = r->module->functions[i];
        if (f->linkage != IR_LINKAGE_KERNEL || r->b->executable.graph) continue; /* which keeps what its kernels say */
        f->has_compiled = true;
        f->n_compiled = 0;
        f->compiled = NULL;
        *names_put(&r->kernels, f->name, strlen(f->name)) = f;
    }
    return r->module ? 0 : -1;
}

struct ir_module *ahead_load(struct ahead_load *b, const void *bytes, size_t size, const char *object, struct error *e)
{
    struct reader r = {.b = b, .object = object, .e = e};
    b->arena = arena_new();
    r.kernels.arena = b->arena;
    bundle_init(&r.files);
    int result = bundle_read(&r.files, bytes, size, object, e);
    if (result == 0) result = read_executable(&r);
    if (result == 0) result = read_module(&r);
    if (result == 0) result = read_images(&r);
    bundle_clear(&r.files);
    if (result == 0) return r.module;
    ir_module_free(r.module);
    return NULL;
}

void ahead_load_clear(struct ahead_load *b)
{
    if (b->arena) arena_free(b->arena);
    *b = (struct ahead_load){0};
}
