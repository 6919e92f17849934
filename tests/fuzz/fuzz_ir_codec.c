/* Any bytes as a module in msgpack: refused with a finding, or decoded to one that has one form. */
#include <stdlib.h>
#include <string.h>

#include "ir/core/equal.h"
#include "ir/msgpack/codec.h"
#include "tests/fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct diag_list list = {0};
    struct ir_module *m = ir_decode(data, size, &list);
    fuzz_check(m || list.n > 0, "refused without a finding");
    diag_clear(&list);
    if (!m) return 0;

    size_t n, n_again;
    uint8_t *bytes = ir_encode(m, &n);
    struct ir_module *again = ir_decode(bytes, n, &list);
    fuzz_check_list(again, &list, "");
    fuzz_check(ir_module_equal(m, again), "not equal after encode and decode");
    uint8_t *bytes_again = ir_encode(again, &n_again);
    fuzz_check(n == n_again && memcmp(bytes, bytes_again, n) == 0, "equal modules have two forms");
    free(bytes_again);
    ir_module_free(again);
    free(bytes);
    ir_module_free(m);
    return 0;
}
