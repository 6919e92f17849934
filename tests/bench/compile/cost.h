/* What it costs to make code: measured in a process of its own, which may fail or be ended without harm to the rest. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "fuser/cpu/compile.h"

enum outcome { OUTCOME_NONE, OUTCOME_MADE, OUTCOME_INTERPRETED, OUTCOME_REFUSED, OUTCOME_TIME_LIMIT, OUTCOME_DIED };

struct cost {
    enum outcome outcome;
    char file[64], kernel[64];
    double plan_ms, code_ms; /* processor time, of `as` and `ld` too */
    double wall_ms;          /* of both */
    unsigned statements, lanes, instructions;
    size_t bytes; /* of instructions and constants */
    enum cpu_effort effort;
    double memory_mb; /* the most that the process had */
    char why[160];    /* where nothing was made */
};

/* A module's number of kernels; negative where it cannot be read, which is then said. */
int cost_kernels(const char *path);

struct cost_options {
    enum cpu_isa isa;
    enum cpu_effort effort; /* at most */
    unsigned limit_s;
};
/* Plans and compiles one kernel of the module, cold. */
struct cost cost_of_kernel(const char *path, unsigned number, const struct cost_options *options);

/* The instructions of a text for an assembler: labels and directives are none. */
unsigned cost_instructions(const char *assembly);
/* In ms: of the process, with the children it has waited for; and of the clock. */
double cost_processor_ms(void);
double cost_wall_ms(void);

/* Prints what a few loops cost as OpenCL C through us and as C through gcc -O3. loops: the module that has them. */
void loops_compare(const char *module, const struct cost_options *options);
