/*
 * Linking: the input is the text of up to four modules, with a line of %% between them. What links is whole: it needs
 * nothing of other modules any more, its text says all of it, and linking it once more changes nothing.
 */
#include <stdlib.h>
#include <string.h>

#include "ir/core/equal.h"
#include "ir/link/link.h"
#include "ir/link/unresolved.h"
#include "ir/text/parse/parse.h"
#include "ir/text/print/print.h"
#include "tests/fuzz/fuzz.h"

enum { MOST_PARTS = 4 };

static const char between[] = "\n%%\n";

static struct ir_module *read_part(const char *text, size_t size)
{
    struct diag_list list = {0};
    struct ir_module *m = ir_parse(text, size, "part.fk", &list);
    fuzz_check(m || list.n > 0, "refused without a finding");
    diag_clear(&list);
    return m;
}

/* As many as there are; 0: one of them is no module. */
static uint32_t read_parts(const char *text, size_t size, struct ir_module **parts)
{
    uint32_t n = 0;
    const char *end = text + size;
    while (n < MOST_PARTS) {
        const char *stop = memmem(text, (size_t)(end - text), between, sizeof between - 1);
        parts[n] = read_part(text, (size_t)((stop ? stop : end) - text));
        if (!parts[n]) break;
        n++;
        if (!stop) return n;
        text = stop + sizeof between - 1;
    }
    while (n) ir_module_free(parts[--n]);
    return 0;
}

static void check_text(const struct ir_module *m)
{
    struct diag_list list = {0};
    char *text = ir_print(m);
    struct ir_module *again = ir_parse(text, strlen(text), "other.fk", &list);
    fuzz_check_list(again, &list, text);
    fuzz_check(ir_module_equal(m, again), "not equal after print and parse");
    ir_module_free(again);
    free(text);
}

static void check_whole(const struct ir_module *m)
{
    struct diag_list list = {0};
    for (uint32_t i = 0; i < m->n_functions; i++)
        fuzz_check(!m->functions[i]->body || !ir_find_import(m->functions[i]), "linked, and yet it needs an import");
    struct ir_module *once_more = ir_link(&m, 1, m->name, &list);
    char *text = ir_print(m);
    fuzz_check_list(once_more, &list, text);
    char *other = ir_print(once_more);
    fuzz_check(strcmp(text, other) == 0, "linking it once more changes it");
    free(other);
    free(text);
    ir_module_free(once_more);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct ir_module *parts[MOST_PARTS];
    struct diag_list list = {0};
    uint32_t n = read_parts((const char *)data, size, parts);
    if (!n) return 0;
    struct ir_module *linked = ir_link((const struct ir_module *const *)parts, n, "linked", &list);
    fuzz_check(linked || list.n > 0, "refused without a finding");
    diag_clear(&list);
    while (n) ir_module_free(parts[--n]);
    if (!linked) return 0;
    check_text(linked);
    check_whole(linked);
    ir_module_free(linked);
    return 0;
}
