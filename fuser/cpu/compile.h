/* CPU code through libgccjit: one kernel in, one ELF shared object out. Runs only in compiler processes. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "fuser/cpu/target/target.h"
#include "ir/base/diag.h"
#include "ir/core/ir.h"

/* How much is made of a kernel: from the fastest code to the least. What it computes is the same with each. */
enum cpu_effort {
    CPU_EFFORT_FULL,       /* two vectors in flight where that pays, lanes that are taken one by one written out */
    CPU_EFFORT_ONE_VECTOR, /* one vector, and such lanes in a loop */
    CPU_EFFORT_SCALAR,     /* one work-item at a time, or a sub-group */
    CPU_EFFORT_PLAIN,      /* one vector without optimization, where an instruction set has what it takes */
    CPU_EFFORT_MINIMAL,    /* one work-item at a time, without optimization */
    CPU_EFFORT_NONE,       /* no code: the kernel is interpreted */
    CPU_EFFORT_COUNT = CPU_EFFORT_NONE
};
const char *cpu_effort_name(enum cpu_effort effort);

struct cpu_options {
    struct cpu_target target;
    bool keep_assembly;
    enum cpu_effort effort; /* at most; a large kernel gets less by itself */
    bool emit_only;         /* nothing is compiled: the object tells its size, but has no code */
};

struct cpu_object {
    uint8_t *elf;
    size_t elf_size;
    char *assembly; /* with keep_assembly */
    unsigned lanes;
    enum cpu_effort effort;
    unsigned statements; /* given to gcc, whose time and memory follow them */
};

/* Is there code for everything in the kernel? The same findings as cpu_compile() would give, at no cost: for the
   time when names and source lines are still known. */
bool cpu_check(const struct ir_function *kernel, struct diag_list *list);

/* Makes code for a kernel as fuser/cpu/abi/kernel_abi.h says, for work-groups of any size. 0; 1 where the kernel is
   too large for any code; or with findings: -1, which name the operation, function and line where something is not
   supported, or -2, the compiler's own words where it failed. */
int cpu_compile(const struct ir_function *kernel, const struct cpu_options *options, struct cpu_object *object,
                struct diag_list *list);
void cpu_object_clear(struct cpu_object *object);
