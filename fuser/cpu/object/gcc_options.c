/* What gcc is told. */
#include "fuser/cpu/object/gcc_options.h"

void gcc_options_set(gcc_jit_context *gcc, const char *const *for_isa, bool is_scalar, int level)
{
    static const char *const common[] = {"-fPIC",
                                         "-ffp-contract=off",
                                         "-fno-math-errno",
                                         "-fno-trapping-math",
                                         "-fwrapv",
                                         "-fno-strict-aliasing",
                                         "-fno-asynchronous-unwind-tables",
                                         "-fno-stack-protector",
                                         "-fno-tree-pre", /* gcc 12's crashes on some calls of fma */
                                         "--param=ggc-min-heapsize=8192",
                                         "--param=ggc-min-expand=30",
                                         NULL};
    static const char *const scalar[] = {"-fvect-cost-model=dynamic", "--param=vect-max-version-for-alias-checks=256",
                                         NULL};
    for (const char *const *o = common; *o; o++) gcc_jit_context_add_command_line_option(gcc, *o);
    for (const char *const *o = for_isa; *o; o++) gcc_jit_context_add_command_line_option(gcc, *o);
    for (const char *const *o = scalar; is_scalar && *o; o++) gcc_jit_context_add_command_line_option(gcc, *o);
    gcc_jit_context_set_int_option(gcc, GCC_JIT_INT_OPTION_OPTIMIZATION_LEVEL, level);
    gcc_jit_context_set_bool_print_errors_to_stderr(gcc, 0);
    gcc_jit_context_set_bool_allow_unreachable_blocks(gcc, 1);
}
