/* Compiled kernels: made in a child process, loaded and run over an ND-range in the test's own. */
#pragma once

#include "fuser/cpu/abi/kernel_abi.h"
#include "fuser/cpu/batch/batch.h"
#include "fuser/cpu/compile.h"
#include "ir/interp/interp.h"

struct compiled {
    void *library;
    kernel_entry *entry; /* NULL: in batches */
    struct batch *batch;
    const struct kernel_object_info *info;
    struct ir_printer *printer; /* what takes what it prints and finds; NULL: nothing does */
};

/* The instruction sets this machine can run, at most CPU_ISA_COUNT, and how many. */
unsigned compiled_isas(enum cpu_isa isas[CPU_ISA_COUNT]);

/* Compiles and loads. Where that fails, findings are printed and it is false. */
bool compiled_make(struct compiled *c, const struct ir_function *kernel, enum cpu_isa isa, bool scalar);
/* For that processor or instruction set, with that effort, or less where the kernel is large. */
bool compiled_make_for(struct compiled *c, const struct ir_function *kernel, const struct cpu_target *target,
                       enum cpu_effort effort);
bool compiled_make_with(struct compiled *c, const struct ir_function *kernel, enum cpu_isa isa, enum cpu_effort effort);
/* The kernel without code, in batches. */
bool compiled_make_batch(struct compiled *c, const struct ir_function *kernel, enum batch_loops loops);
void compiled_clear(struct compiled *c);

/* Runs it over the range; arguments as the interpreter takes them. parts: the work-groups are split over so
   many calls, as threads would. flags: enum kernel_launch_flag. */
void compiled_run(const struct compiled *c, const struct ir_function *kernel, const struct nd_range *range,
                  const struct interp_arg *args, unsigned parts, uint32_t flags);
