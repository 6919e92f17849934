/* Writing executables. */
#include "fuser/ahead/save.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fuser/cpu/abi/kernel_abi.h"
#include "fuser/features/bundle.h"
#include "fuser/features/file_table.h"

static void add_text(struct bundle *b, const char *name, const char *text)
{
    bundle_add(b, name, text, strlen(text));
}

static void add_table(struct bundle *b, const char *name, struct file_table *t)
{
    char *text = file_table_write(t);
    add_text(b, name, text);
    free(text);
    file_table_clear(t);
}

static void begin_table(struct file_table *t, const char *const *columns, unsigned n)
{
    file_table_init(t);
    for (unsigned i = 0; i < n; i++) file_table_add_column(t, columns[i]);
}

/* A launch may be of several kernels: none is named. */
static void add_code(struct bundle *b, const struct ahead_saved *x)
{
    static const char *const columns[] = {"Kernel", BUNDLE_LAUNCH, BUNDLE_OBJECT, BUNDLE_LANES, BUNDLE_EFFORT};
    struct file_table t;
    begin_table(&t, columns, sizeof columns / sizeof *columns);
    for (uint32_t i = 0; i < x->n_code; i++) {
        const struct ahead_code *c = &x->code[i];
        char launch[32], object[32], lanes[24];
        snprintf(launch, sizeof launch, "launch.%u.fk", i);
        snprintf(object, sizeof object, "launch.%u.so", i);
        snprintf(lanes, sizeof lanes, "%llu", (unsigned long long)c->lanes);
        bundle_add(b, launch, c->launch, c->launch_size);
        bundle_add(b, object, c->object, c->object_size);
        file_table_add_row(&t, (const char *const[]){"", launch, object, lanes, c->effort});
    }
    add_table(b, "code.table", &t);
}

/* The launches are all of one image, which names no kernels: where those may run is theirs to say. */
static void add_image(struct bundle *b, const struct ahead_saved *x)
{
    static const char *const columns[] = {"Target", "Properties", "Symbols", "Code"};
    struct file_table t;
    begin_table(&t, columns, sizeof columns / sizeof *columns);
    if (x->n_code) {
        add_code(b, x);
        add_text(b, "code.prop", "");
        add_text(b, "code.sym", "");
        file_table_add_row(&t, (const char *const[]){x->target, "code.prop", "code.sym", "code.table"});
    }
    add_table(b, BUNDLE_TABLE, &t);
}

uint8_t *ahead_save(const struct ahead_saved *x, size_t *size)
{
    struct bundle b;
    char text[64];
    bundle_init(&b);
    snprintf(text, sizeof text, AHEAD_VERSION, (unsigned)AHEAD_FORM, (unsigned)KERNEL_ABI_VERSION);
    add_text(&b, BUNDLE_VERSION, text);
    bundle_add(&b, BUNDLE_GRAPH, x->graph.bytes, x->graph.size);
    bundle_add(&b, BUNDLE_OPTIONS, x->options.bytes, x->options.size);
    for (uint32_t i = 0; i < x->n_modules; i++) {
        ahead_module_name(i, text);
        bundle_add(&b, text, x->modules[i].bytes, x->modules[i].size);
    }
    add_image(&b, x);
    uint8_t *bytes = bundle_write(&b, size);
    bundle_clear(&b);
    return bytes;
}
