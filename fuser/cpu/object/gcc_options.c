/* What gcc is told. */
#include "fuser/cpu/object/gcc_options.h"

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

/* Variables that are used once are put where they are used: faster to compile than not, and twice as fast to run. */
static const char *const none[] = {"-ftree-ter", "-fomit-frame-pointer", NULL};

/* Of -O1, what takes half of the time and leaves run times as they are. Registers are given out for the whole function
   at once: loop by loop it takes up to four times as long. Where there are too few, it is not asked of hundreds which
   of them would be best in memory: in large blocks that took a third of all. What is the same in each round does leave
   loops, as vectors that are filled with an argument: a sixth of a chain's time. Loops of a few instructions take up to
   a quarter less time where they begin at a line of the processor's decoder. (Not among them is -fno-tree-ch: gcc 12
   fails to unroll some loops that it leaves as they are.) */
static const char *const lean[] = {"-fno-tree-dominator-opts",
                                   "-fno-tree-bit-ccp",
                                   "-fno-ivopts",
                                   "-fira-region=one",
                                   "-falign-loops",
                                   "--param=lra-max-considered-reload-pseudos=50",
                                   NULL};

/* Sums stay where they are emitted, between those of other work-items: put where they are used, one after the other,
   all that they are made of would be needed at the same time. */
static const char *const in_order[] = {"-fno-tree-ter", NULL};

static const char *const vectorize[] = {"-fvect-cost-model=dynamic", "--param=vect-max-version-for-alias-checks=256",
                                        NULL};

static const struct {
    int level; /* of optimization */
    const char *const *options;
} efforts[] = {[GCC_EFFORT_NONE] = {0, none}, [GCC_EFFORT_LEAN] = {1, lean}, [GCC_EFFORT_VECTORIZE] = {3, vectorize}};

static void add_options(gcc_jit_context *gcc, const char *const *options)
{
    for (; *options; options++) gcc_jit_context_add_command_line_option(gcc, *options);
}

void gcc_options_set(gcc_jit_context *gcc, const char *const *for_isa, enum gcc_effort effort, bool keeps_order)
{
    add_options(gcc, common);
    add_options(gcc, for_isa);
    add_options(gcc, efforts[effort].options);
    if (keeps_order) add_options(gcc, in_order);
    gcc_jit_context_set_int_option(gcc, GCC_JIT_INT_OPTION_OPTIMIZATION_LEVEL, efforts[effort].level);
    gcc_jit_context_set_bool_print_errors_to_stderr(gcc, 0);
    gcc_jit_context_set_bool_allow_unreachable_blocks(gcc, 1);
}
