/* Each sub-group function on each type in compiled code, and in batches. Each try of code costs a compilation: the
   short check takes instruction sets in turn, few of the wide vectors, and of the functions on one number every ninth
   at each size and the others at one; FUSIOND_TEST_WHOLE takes all. */
#include <stdlib.h>

#include "tests/support/compiled.h"
#include "tests/support/sub_group_table.h"

enum { WIDEST = 64 /* numbers of a sub-group's vector in the short check */, EACH_SIZE = 9 };

static enum cpu_isa isas[CPU_ISA_COUNT];
static unsigned n_isas;

static bool run(unsigned way, const struct ir_function *kernel, const struct nd_range *range,
                const struct interp_arg *args, uint32_t *size)
{
    struct compiled c;
    if (way == n_isas)
        compiled_make_batch(&c, kernel, BATCH_BEST);
    else if (!compiled_make(&c, kernel, isas[way], false))
        return false;
    compiled_run(&c, kernel, range, args, 2, 0);
    *size = c.info->sub_group_size;
    compiled_clear(&c);
    return true;
}

/* Small ones at each size; of the others one. */
static bool takes(unsigned way, unsigned number, uint32_t size, unsigned lanes)
{
    if (way == n_isas) return true;
    unsigned power = (unsigned)__builtin_ctz(size);
    if ((number + lanes + power) % n_isas != way) return false;
    if (lanes > 1 || number % EACH_SIZE) return size == 4u << (number + lanes) % 3 && size * lanes <= WIDEST;
    return true;
}

int main(void)
{
    bool all = getenv("FUSIOND_TEST_WHOLE");
    n_isas = compiled_isas(isas);
    struct sub_group_runner runner = {"diff_sub_group_table", n_isas + 1, run, all ? NULL : takes};
    return sub_group_table_main(&runner);
}
