/* The tables of docs/sub-groups.md: each row names tests, each test named there is, and each case is named. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/support/sub_group_table.h"

static char *read_file(const char *path)
{
    const char *root = getenv("FUSIOND_SOURCE_ROOT");
    char full[1024];
    snprintf(full, sizeof full, "%s/%s", root ? root : ".", path);
    FILE *f = fopen(full, "rb");
    if (!f) return NULL;
    char *text = calloc(1, 1 << 20);
    assert_non_null(text);
    assert_true(fread(text, 1, (1 << 20) - 1, f) > 0);
    fclose(f);
    return text;
}

/* "folder/program/test": the program's source has that test. */
static bool is_in_program(const char *name)
{
    char path[256], call[256];
    const char *slash = strrchr(name, '/');
    snprintf(path, sizeof path, "tests/%.*s.c", (int)(slash - name), name);
    snprintf(call, sizeof call, "cmocka_unit_test(%s)", slash + 1);
    char *text = read_file(path);
    bool found = text && strstr(text, call);
    free(text);
    return found;
}

static bool exists(const char *name)
{
    return strchr(name, '/') ? is_in_program(name) : sub_group_table_has(name);
}

/* The names in the last column of a row; how many. */
static unsigned check_row(const char *row, const char *end)
{
    unsigned n = 0;
    const char *column = end - 1;
    while (column > row && *column != '|') column--; /* the bar at the end */
    for (column--; column > row && *column != '|';) column--;
    for (const char *at = column; (at = memchr(at, '`', (size_t)(end - at))); n++) {
        const char *close = memchr(at + 1, '`', (size_t)(end - at - 1));
        assert_non_null(close);
        char name[128];
        snprintf(name, sizeof name, "%.*s", (int)(close - at - 1), at + 1);
        if (!exists(name)) fail_msg("docs/sub-groups.md names a test that is not there: %s", name);
        at = close + 1;
    }
    return n;
}

static void each_row_names_tests(void **state)
{
    (void)state;
    char *text = read_file("docs/sub-groups.md");
    assert_non_null(text);
    unsigned rows = 0;
    const char *line = strstr(text, "\n## Tests\n");
    assert_non_null(line);
    for (const char *end; (end = strchr(++line, '\n')); line = end) {
        bool is_row = line[0] == '|', is_head = is_row && strncmp(end + 1, "| ---", 5) == 0;
        if (!is_row || is_head || strncmp(line, "| ---", 5) == 0) continue;
        if (check_row(line, end) == 0) fail_msg("a row names no test: %.*s", (int)(end - line), line);
        rows++;
    }
    assert_true(rows > 100);
    free(text);
}

static void each_case_is_in_a_row(void **state)
{
    (void)state;
    char *text = read_file("docs/sub-groups.md");
    assert_non_null(text);
    const char *tables = strstr(text, "\n## Tests\n"), *name;
    assert_non_null(tables);
    for (unsigned i = 0; (name = sub_group_table_name(i)); i++) {
        char quoted[64];
        snprintf(quoted, sizeof quoted, "`%s`", name);
        if (!strstr(tables, quoted)) fail_msg("docs/sub-groups.md does not name %s", name);
    }
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_row_names_tests),
        cmocka_unit_test(each_case_is_in_a_row),
    };
    return cmocka_run_group_tests_name("test_sub_group_docs", tests, NULL, NULL);
}
