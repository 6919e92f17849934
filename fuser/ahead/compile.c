/* Modules become a bundle. */
#include "fuser/ahead/compile.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fuser/ahead/code.h"
#include "fuser/features/filter.h"
#include "fuser/features/split.h"
#include "ir/base/arena.h"
#include "ir/base/strbuf.h"
#include "ir/link/link.h"
#include "ir/msgpack/codec.h"

struct making {
    const struct ahead_request *r;
    struct bundle *out;
    struct ir_module *whole;
    struct split split;
    struct file_table images;
    uint32_t n_sizes;
    struct ahead_local_size *sizes;
    struct error *e;
};

static const char any_target[] = "spir64";

static ahead_coder *coder_of(const char *target)
{
    if (strcmp(target, any_target) == 0) return ahead_spirv_code;
    if (strcmp(target, "ptx64") == 0) return ahead_ptx_code;
    if (strncmp(target, "x86_64", 6) == 0) return ahead_cpu_code;
    if (strncmp(target, "intel_gpu_", 10) == 0) return ahead_intel_code;
    return NULL;
}

/* ---- images ---- */

static const char *text_member(struct making *m, uint32_t image, const char *ending, char *text, char name[static 64])
{
    snprintf(name, 64, "%u.%s", image, ending);
    if (!bundle_find(m->out, name)) bundle_add(m->out, name, text, strlen(text));
    free(text);
    return name;
}

static char *names_of(const struct split_image *image)
{
    struct strbuf out = {0};
    strbuf_add(&out, "");
    for (uint32_t i = 0; i < image->n_entries; i++) strbuf_printf(&out, "%s\n", image->entries[i]);
    return strbuf_take(&out);
}

/* The image's row for the target, with its code. */
static bool add_image(struct making *m, const struct ir_target *target, uint32_t index)
{
    const struct split_image *image = &m->split.images[index];
    struct file_table code;
    char stem[128], name[160], properties[64], symbols[64];
    snprintf(stem, sizeof stem, "%u.%.100s", index, target->name);
    snprintf(name, sizeof name, "%s.table", stem);
    ahead_init_table(&code);
    const struct ahead_image job = {.whole = m->whole,
                                    .image = image,
                                    .target = target,
                                    .stem = stem,
                                    .n_sizes = m->n_sizes,
                                    .sizes = m->sizes,
                                    .bundle = m->out,
                                    .table = &code,
                                    .warn = m->r->warn,
                                    .data = m->r->data};
    bool good = coder_of(target->name)(&job, m->e);
    if (good) {
        char *table = file_table_write(&code);
        bundle_add(m->out, name, table, strlen(table));
        free(table);
        text_member(m, index, "prop", property_set_write(&image->requirements), properties);
        text_member(m, index, "sym", names_of(image), symbols);
        file_table_add_row(&m->images, (const char *const[]){target->name, properties, symbols, name});
    }
    file_table_clear(&code);
    return good;
}

/* Without targets nothing is compiled, so nothing has to fit. */
static bool add_target(struct making *m, const char *name, bool filtered)
{
    const struct ir_target *target = device_config_find(m->r->config, name);
    if (!target) return error_set(m->e, 1, name, "there is no such target in the device configuration file") == 0;
    if (!coder_of(name)) return error_set(m->e, 1, name, "there is nothing that compiles for this target") == 0;
    for (uint32_t i = 0; i < m->split.n_images; i++)
        if ((!filtered || filter_accepts(target, &m->split.images[i].requirements)) && !add_image(m, target, i))
            return false;
    return true;
}

static bool is_repeated(const struct ahead_request *r, uint32_t target)
{
    for (uint32_t i = 0; i < target; i++)
        if (strcmp(r->targets[i], r->targets[target]) == 0) return true;
    return false;
}

static bool add_targets(struct making *m)
{
    static const char *const columns[] = {"Target", "Properties", "Symbols", "Code"};
    for (unsigned i = 0; i < sizeof columns / sizeof *columns; i++) file_table_add_column(&m->images, columns[i]);
    bool good = m->r->n_targets || add_target(m, any_target, false);
    for (uint32_t i = 0; i < m->r->n_targets && good; i++)
        good = is_repeated(m->r, i) || add_target(m, m->r->targets[i], true);
    return good;
}

/* ---- all of it ---- */

static void fail_findings(struct making *m, const struct diag_list *findings)
{
    char *text = diag_format(findings);
    error_set(m->e, 1, m->r->units[0]->name, "%s", text);
    free(text);
}

/* The copy is what services have, too: how modules are written in the msgpack form is part of what kernels are. */
static bool link_units(struct making *m, struct diag_list *findings)
{
    size_t size;
    bool alone = m->r->n_units == 1;
    struct ir_module *linked = alone ? NULL : ir_link(m->r->units, m->r->n_units, m->r->units[0]->name, findings);
    if (!alone && !linked) return false;
    uint8_t *bytes = ir_encode(alone ? m->r->units[0] : linked, &size);
    ir_module_free(linked);
    bundle_add(m->out, BUNDLE_MODULE, bytes, size);
    m->whole = ir_decode(bytes, size, findings);
    free(bytes);
    return m->whole &&
           split_linked(m->r->units, m->r->n_units, m->whole, m->r->mode, &m->split, findings, m->r->warn, m->r->data);
}

static void list_sizes(struct making *m)
{
    m->n_sizes = m->r->n_sizes + 1;
    m->sizes = arena_alloc(m->out->arena, m->n_sizes * sizeof *m->sizes);
    for (uint32_t i = 0; i < m->r->n_sizes; i++) m->sizes[i + 1] = m->r->sizes[i];
}

bool ahead_compile(const struct ahead_request *r, struct bundle *out, struct error *e)
{
    struct making m = {.r = r, .out = out, .e = e};
    struct diag_list findings = {0};
    file_table_init(&m.images);
    list_sizes(&m);
    bool good = link_units(&m, &findings);
    if (!good) fail_findings(&m, &findings);
    good = good && add_targets(&m);
    if (good) {
        char *table = file_table_write(&m.images);
        bundle_add(out, BUNDLE_TABLE, table, strlen(table));
        free(table);
    }
    split_clear(&m.split);
    ir_module_free(m.whole);
    file_table_clear(&m.images);
    diag_clear(&findings);
    return good;
}
