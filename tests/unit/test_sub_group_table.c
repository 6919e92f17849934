/* Each sub-group function on each type in the interpreter; docs/sub-groups.md names a test for each function. */
#include <stdio.h>

#include "tests/support/sub_group_table.h"

static bool run(unsigned way, const struct ir_function *kernel, const struct nd_range *range,
                const struct interp_arg *args, uint32_t *size)
{
    (void)way;
    struct interp_options options = {.check_races = true, .sub_group_size = *size};
    struct interp_result result;
    bool good = interp_run(kernel, range, args, &options, &result) == 0 && result.n_findings == 0;
    if (result.n_findings) fprintf(stderr, "line %u: %s\n", result.findings[0].line, result.findings[0].text);
    interp_result_clear(&result);
    return good;
}

int main(void)
{
    static const struct sub_group_runner runner = {"test_sub_group_table", 1, run, NULL};
    return sub_group_table_main(&runner);
}
