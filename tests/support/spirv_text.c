#include "tests/support/spirv_text.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "ir/interp/interp.h"
#include "tests/support/spirv_make.h"

struct ir_module *read_with(const char *text, const struct ir_spirv_options *options, struct diag_list *list)
{
    size_t size;
    uint8_t *bytes = spirv_make_assembled(text, &size);
    struct ir_module *m = ir_read_spirv_with(bytes, size, "test", options, list);
    free(bytes);
    return m;
}

struct ir_module *read_good(const char *text)
{
    struct diag_list list = {0};
    struct ir_module *m = read_with(text, NULL, &list);
    char *findings = diag_format(&list);
    if (!m) fail_msg("%s", findings);
    free(findings);
    diag_clear(&list);
    return m;
}

void assert_refused(const char *text, const char *function, const char *part)
{
    assert_refused_as(text, function, part, NULL);
}

void assert_refused_as(const char *text, const char *function, const char *part, const char * or)
{
    struct diag_list list = {0};
    assert_null(read_with(text, NULL, &list));
    assert_true(list.n > 0);
    if (!strstr(list.items[0].text, part) && !(or &&strstr(list.items[0].text, or)))
        fail_msg("\"%s\" does not say \"%s\"", list.items[0].text, part);
    if (function) {
        assert_non_null(list.items[0].function);
        assert_string_equal(list.items[0].function, function);
    }
    diag_clear(&list);
}

void run_k(const struct ir_module *m, uint32_t *data, unsigned n)
{
    struct nd_range range = {.dims = 1, .global = {1, 1, 1}, .local = {1, 1, 1}};
    struct interp_arg arg = {.kind = INTERP_ARG_BUFFER, .data = data, .size = n * sizeof *data};
    struct interp_options options = {.check_unwritten = true};
    struct interp_result result;
    const struct ir_function *k = ir_module_find(m, "k");
    assert_non_null(k);
    assert_int_equal(k->linkage, IR_LINKAGE_KERNEL);
    assert_int_equal(interp_run(k, &range, &arg, &options, &result), 0);
    if (result.n_findings) fail_msg("%s", result.findings[0].text);
    interp_result_clear(&result);
}
