/*
 * What each pass makes of small kernels: PASS/CASE.before.fk becomes PASS/CASE.after.fk. A first line
 * "// passes: a b" in the former names other passes than the folder's. Each case also computes the same before and
 * after, and a second run changes nothing. test_pass_files FOLDER   the folder tests/passes
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fuser/passes/manager/pass_manager.h"
#include "fuser/passes/passes.h"
#include "ir/text/parse/parse.h"
#include "ir/text/print/print.h"
#include "ir/verify/verify.h"
#include "tests/support/kernel_run.h"

enum { MAX_PASSES = 8, MAX_ARGS = 3, MAX_TEXT = 1 << 16 };

struct pass_file {
    char name[200]; /* PASS/CASE */
    char before[600], after[600];
};

static void read_text(const char *path, char text[MAX_TEXT])
{
    FILE *in = fopen(path, "r");
    if (!in) fail_msg("%s cannot be read", path);
    text[fread(text, 1, MAX_TEXT - 1, in)] = 0;
    fclose(in);
}

/* The passes that a case is about, ended by NULL. */
static void read_passes(const struct pass_file *file, const char *text, const struct pass *passes[MAX_PASSES])
{
    static const char mark[] = "// passes: ";
    char words[200];
    int n = 0;
    bool listed = strncmp(text, mark, strlen(mark)) == 0;
    const char *from = listed ? text + strlen(mark) : file->name;
    snprintf(words, sizeof words, "%.*s", (int)strcspn(from, listed ? "\n" : "/"), from);
    for (char *rest = words, *word; n < MAX_PASSES - 1 && (word = strsep(&rest, " ")); n++) {
        passes[n] = pass_by_name(word);
        if (!passes[n]) fail_msg("%s: there is no pass %s", file->name, word);
    }
    passes[n] = NULL;
}

static struct ir_module *parse(const char *text, const char *name)
{
    struct diag_list list = {0};
    struct ir_module *m = ir_parse(text, strlen(text), name, &list);
    if (!m) fail_msg("%s: %s", name, diag_format(&list));
    return m;
}

/* Both kernels leave the same in memory. */
static void expect_same_results(struct ir_function *a, struct ir_function *b)
{
    struct slot slots[2][MAX_ARGS];
    struct nd_range range = {1, {16, 1, 1}, {0}, {4, 1, 1}};
    assert_true(a->n_params <= MAX_ARGS);
    for (uint64_t seed = 0; seed < 16; seed++) {
        for (int k = 0; k < 2; k++) {
            struct slot *args[MAX_ARGS];
            for (uint32_t i = 0; i < a->n_params; i++) {
                slots[k][i] = slot_new(a->module, &a->params[i], 64, 3 * seed + i);
                args[i] = &slots[k][i];
            }
            assert_true(slots_run(k ? b : a, &range, args));
        }
        for (uint32_t i = 0; i < a->n_params; i++) {
            assert_memory_equal(slots[0][i].data, slots[1][i].data, slots[0][i].bytes);
            for (int k = 0; k < 2; k++) slot_clear(&slots[k][i]);
        }
    }
}

/* Runs the passes; each says truly whether it changed something. */
static void apply(const struct pass *const *passes, struct ir_function *k)
{
    for (; *passes; passes++) {
        char *before = ir_print_function(k);
        bool changed = pass_run(*passes, k);
        char *after = ir_print_function(k);
        assert_int_equal(changed, strcmp(before, after) != 0);
        free(before);
        free(after);
    }
}

static void expect_text(struct ir_function *k, const char *wanted)
{
    struct diag_list list = {0};
    if (!ir_verify(k->module, &list)) fail_msg("%s\n%s", diag_format(&list), ir_print(k->module));
    char *text = ir_print_function(k);
    assert_string_equal(text, wanted);
    free(text);
}

static void run_file(void **state)
{
    static char text[MAX_TEXT], wanted[MAX_TEXT];
    const struct pass_file *file = *state;
    const struct pass *passes[MAX_PASSES];
    read_text(file->before, text);
    read_text(file->after, wanted);
    read_passes(file, text, passes);
    struct ir_module *before = parse(text, file->name), *m = parse(text, file->name);
    struct ir_function *k = ir_module_find(m, "k");
    for (int i = 0; i < 2; i++) { /* the second time nothing is left to do */
        apply(passes, k);
        expect_text(k, wanted);
    }
    expect_same_results(ir_module_find(before, "k"), k);
    ir_module_free(m);
    ir_module_free(before);
}

int main(int argc, char **argv)
{
    char pattern[500];
    glob_t found;
    if (argc != 2) return 2;
    snprintf(pattern, sizeof pattern, "%s/*/*.before.fk", argv[1]);
    if (glob(pattern, 0, NULL, &found) != 0) return 1;
    struct pass_file *files = calloc(found.gl_pathc, sizeof *files);
    struct CMUnitTest *tests = calloc(found.gl_pathc, sizeof *tests);
    for (size_t i = 0; i < found.gl_pathc; i++) {
        const char *path = found.gl_pathv[i], *name = path + strlen(argv[1]) + 1;
        int stem = (int)(strlen(path) - strlen(".before.fk"));
        snprintf(files[i].name, sizeof files[i].name, "%.*s", (int)(strlen(name) - strlen(".before.fk")), name);
        snprintf(files[i].before, sizeof files[i].before, "%s", path);
        snprintf(files[i].after, sizeof files[i].after, "%.*s.after.fk", stem, path);
        tests[i] = (struct CMUnitTest){files[i].name, run_file, NULL, NULL, &files[i]};
    }
    int failed = _cmocka_run_group_tests("pass_files", tests, found.gl_pathc, NULL, NULL);
    globfree(&found);
    free(tests);
    free(files);
    return failed;
}
