/* What the kinds of code have in common. */
#include "fuser/ahead/code.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ir/base/strbuf.h"

const struct ir_function *ahead_next_kernel(const struct ahead_image *i, uint32_t *at)
{
    while (*at < i->image->n_entries) {
        const struct ir_function *f = ir_module_find(i->whole, i->image->entries[(*at)++]);
        if (f && f->linkage == IR_LINKAGE_KERNEL) return f;
    }
    return NULL;
}

void ahead_init_table(struct file_table *t)
{
    static const char *const columns[] = {"Kernel", BUNDLE_LAUNCH, BUNDLE_OBJECT, BUNDLE_LANES, BUNDLE_EFFORT};
    file_table_init(t);
    for (unsigned i = 0; i < sizeof columns / sizeof *columns; i++) file_table_add_column(t, columns[i]);
}

static const char *add_member(const struct ahead_image *i, char *name, size_t room, const char *ending,
                              const void *bytes, size_t size)
{
    snprintf(name, room, "%s.%zu.%s", i->stem, i->table->n_rows, ending);
    bundle_add(i->bundle, name, bytes, size);
    return name;
}

void ahead_add_code(const struct ahead_image *i, const struct ir_function *kernel, const struct ahead_launch *launch,
                    const char *ending, const void *object, size_t size, unsigned lanes, const char *effort)
{
    char launched[256] = "", made[256], number[16];
    if (launch) add_member(i, launched, sizeof launched, "fk", launch->bytes, launch->size);
    add_member(i, made, sizeof made, ending, object, size);
    snprintf(number, sizeof number, "%u", lanes);
    file_table_add_row(i->table, (const char *const[]){kernel->name, launched, made, number, effort});
}

void ahead_warn(const struct ahead_image *i, const struct ir_function *kernel, const char *why)
{
    struct strbuf out = {0};
    strbuf_printf(&out, "warning: kernel '%s' is not compiled ahead of time for '%s': %s", kernel->name,
                  i->target->name, why);
    char *text = strbuf_take(&out);
    for (size_t n = strlen(text); n && text[n - 1] == '\n'; n--) text[n - 1] = 0;
    i->warn(i->data, text);
    free(text);
}
