/* Any bytes as IR text: refused with a finding, or read to a module that text can say again. */
#include <stdlib.h>
#include <string.h>

#include "ir/core/equal.h"
#include "ir/text/parse/parse.h"
#include "ir/text/print/print.h"
#include "tests/fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct diag_list list = {0};
    struct ir_module *m = ir_parse((const char *)data, size, "fuzz.fk", &list);
    fuzz_check(m || list.n > 0, "refused without a finding");
    diag_clear(&list);
    if (!m) return 0;

    char *text = ir_print(m);
    struct ir_module *again = ir_parse(text, strlen(text), "other.fk", &list);
    fuzz_check_list(again, &list, text);
    fuzz_check(ir_module_equal(m, again), "not equal after print and parse");
    ir_module_free(again);
    free(text);
    ir_module_free(m);
    return 0;
}
