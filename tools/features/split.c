/* fusion-split: modules in, a table of device images out, with their code, properties and the names in them. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fuser/features/device_config.h"
#include "fuser/features/file_table.h"
#include "fuser/features/split.h"
#include "ir/base/strbuf.h"
#include "ir/text/print/print.h"
#include "tools/features/modules.h"
#include "tools/features/units.h"
#include "tools/features/usage.h"

struct request {
    enum split_mode mode;
    const char *out, *config;
    char *fixed; /* names with commas; NULL: targets are not fixed */
    uint32_t n_in;
    char **in;
};

static bool read_request(struct request *r, int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        if (strncmp(argv[i], "--split=", 8) == 0) {
            if (!split_mode_parse(argv[i] + 8, &r->mode)) return false;
        } else if (strcmp(argv[i], "--split") == 0) {
            r->mode = SPLIT_AUTO;
        } else if (strncmp(argv[i], "--fixed-targets=", 16) == 0) {
            r->fixed = argv[i] + 16;
        } else if (strncmp(argv[i], "--device-config-file=", 21) == 0) {
            r->config = argv[i] + 21;
        } else if (strcmp(argv[i], "-o") == 0 && i + 1 < argc) {
            r->out = argv[++i];
        } else if (argv[i][0] != '-') {
            r->in[r->n_in++] = argv[i];
        } else {
            return false;
        }
    }
    return r->n_in && r->out;
}

/* ---- the images ---- */

/* "out_0.prop" for "out.table" */
static char *file_name(const char *table, uint32_t image, const char *end)
{
    const char *dot = strrchr(table, '.'), *slash = strrchr(table, '/');
    size_t n = dot && (!slash || dot > slash) ? (size_t)(dot - table) : strlen(table);
    struct strbuf out = {0};
    strbuf_printf(&out, "%.*s_%u.%s", (int)n, table, image, end);
    return strbuf_take(&out);
}

static char *names_of(const struct split_image *image)
{
    struct strbuf out = {0};
    strbuf_add(&out, "");
    for (uint32_t i = 0; i < image->n_entries; i++) strbuf_printf(&out, "%s\n", image->entries[i]);
    return strbuf_take(&out);
}

static bool write_image(const struct request *r, const struct split_image *image, uint32_t i, struct file_table *t)
{
    char *files[] = {file_name(r->out, i, "fk"), file_name(r->out, i, "prop"), file_name(r->out, i, "sym")};
    char *texts[] = {ir_print(image->module), property_set_write(&image->requirements), names_of(image)};
    bool good = true;
    for (unsigned k = 0; k < 3; k++) good = good && file_write(files[k], texts[k], strlen(texts[k]));
    file_table_add_row(t, (const char *const *)files);
    for (unsigned k = 0; k < 3; k++) {
        free(files[k]);
        free(texts[k]);
    }
    return good;
}

static bool write_images(const struct request *r, const struct split *s)
{
    struct file_table t;
    bool good = true;
    file_table_init(&t);
    file_table_add_column(&t, "Code");
    file_table_add_column(&t, "Properties");
    file_table_add_column(&t, "Symbols");
    for (uint32_t i = 0; i < s->n_images && good; i++) good = write_image(r, &s->images[i], i, &t);
    char *text = file_table_write(&t);
    if (good) good = file_write(r->out, text, strlen(text));
    free(text);
    file_table_clear(&t);
    return good;
}

static bool split(const struct request *r, const struct units *units)
{
    struct split s;
    struct diag_list findings = {0};
    bool good = split_modules((const struct ir_module *const *)units->modules, units->n, r->mode, &s, &findings,
                              units_warn, NULL);
    if (!good) {
        char *text = diag_format(&findings);
        fputs(text, stderr);
        free(text);
    }
    diag_clear(&findings);
    good = good && write_images(r, &s);
    split_clear(&s);
    return good;
}

static bool run(const struct request *r)
{
    struct device_config config;
    static struct error e;
    if (device_config_open(&config, r->config, &e) != 0) {
        fprintf(stderr, "fusion-split: %s: %s\n", e.object, e.reason);
        return false;
    }
    struct units units;
    bool good = units_read(&units, r->n_in, r->in, r->fixed, &config, &e);
    if (!good && e.code) fprintf(stderr, "fusion-split: %s: %s\n", e.object, e.reason);
    if (good) good = split(r, &units);
    units_clear(&units);
    device_config_clear(&config);
    return good;
}

static const char usage[] =
    "usage: fusion-split [--split=off|per_kernel|per_source|auto] [--fixed-targets=TARGET,...]\n"
    "                    [--device-config-file=FILE] MODULE ... -o TABLE\n";

int main(int argc, char **argv)
{
    if (usage_is_asked("fusion-split", usage, argc, argv)) return 0;
    struct request r = {.mode = SPLIT_AUTO, .in = calloc((size_t)argc + 1, sizeof *r.in)};
    int status = 2;
    if (r.in && read_request(&r, argc, argv))
        status = run(&r) ? 0 : 1;
    else
        fputs(usage, stderr);
    free(r.in);
    return status;
}
