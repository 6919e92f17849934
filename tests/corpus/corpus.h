/*
 * The corpus: OpenCL C kernels with, in comments before each, what to run them on. One file is built into
 * one SPIR-V module at -O0 and at -O2; the interpreter, the CPU code and an OpenCL device run it and are compared.
 *
 * Directives are lines that start with "//:", words separated by spaces:
 *   language STD                  first in a file: OpenCL C version, CL1.2 without it (see build-module)
 *   spirv VERSION                 likewise: the highest SPIR-V version, 1.2 without it
 *   translator OPTION             likewise: one more option of llvm-spirv
 *   debug yes                     likewise: with what compilers write for debuggers
 *   unoptimized LEVEL             likewise: what is taken for -O0, where the translator cannot take that
 *   kernel NAME SIZE LOCAL        the kernel that follows; sizes like 256, 16x16, 8x4x2
 *   offset N[xN[xN]]              of the ND-range
 *   ordered REASON                results depend on which work-items come first: not compared where many do at once
 *   buffer TYPE COUNT DATA [-> RULE ...]
 *   value TYPE NUMBER ...         a scalar, vector or struct: numbers, each at its own alignment; TYPE may change
 *   local BYTES                   work-group memory
 *   image ORDER TYPE SIZE DATA [-> RULE ...]
 *                                 SIZE: 16 (1-D), 16[4] (an array), 16x8, 16x8[4], 16x8x4, or buffer:16;
 *                                 r, a, rg, ra, rgba, bgra or depth; i8 ... u32, f32, snorm8, unorm16 ...; data and
 * rules are those of a buffer of its channels pipe TYPE ELEMENTS CAPACITY PACKETS DATA [-> RULE ...] packets of so many
 * elements; so many of them are in it sampler WORD ...              normalized; none, edge, border, repeat or mirror;
 * nearest or linear pocl REASON                   PoCL does not run it, or runs it wrongly; before the first kernel:
 * none of the file pocl-differs RULE REASON      PoCL's results of that function are wrong; the others are compared
 *   pocl-zeros RULE REASON        PoCL's zeros of that function have the wrong sign; all else is compared
 * What begins with "pocl" may end in "@VERSION", as in pocl@6.0: it is said of that version only.
 * Arguments come in the order of the parameters. TYPE is i8 ... u64, f32, f64. DATA is one of
 *   zero | iota | bits | uniform LOW HIGH | special STEP | mixed LOW HIGH
 * where special goes through the corners of the type, each STEP times, and mixed is special 1 and then uniform.
 * RULE says how results compare: "exact" (the default; any NaN equals any NaN), a function of the table in
 * bounds.c, "ulp:N", "near:X": |a - b| <= X * max(1, |a|), "xyz": exact but for each fourth element, "unset": not
 * compared, for structs whose padding may hold anything, or "zero": nothing else, for kernels that compare what they
 * get with what it should be. "exact:NAME" is exact, with a name for pocl-differs. Several
 * rules: the buffer has as many equal parts.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "ir/interp/interp.h"

enum { CORPUS_MAX_ARGS = 12, CORPUS_MAX_RULES = 64, CORPUS_MAX_DIFFERS = 24 };

struct corpus_type {
    const char *name;
    uint32_t size;
    bool is_float, is_signed;
};

enum corpus_data { CORPUS_ZERO, CORPUS_IOTA, CORPUS_BITS, CORPUS_UNIFORM, CORPUS_SPECIAL, CORPUS_MIXED };

struct corpus_arg {
    enum interp_arg_kind kind;
    bool is_sampler;                /* its value is an enum ir_sampler */
    const struct corpus_type *type; /* of a buffer, or of an image's channels */
    struct ir_image image;          /* but for its data */
    enum ir_image_form form;        /* of the image */
    struct interp_pipe pipe;        /* but for its packets */
    uint64_t size;                  /* bytes */
    enum corpus_data data;
    double low, high; /* of the data; special: low is the step */
    uint8_t value[128];
    uint32_t n_rules;
    char *rules[CORPUS_MAX_RULES];
};

struct corpus_differs {
    char *rule, *reason;
    bool only_zeros;
};

struct corpus_kernel {
    char *name;
    struct nd_range range;
    uint32_t n_args, n_differs;
    struct corpus_arg args[CORPUS_MAX_ARGS];
    bool ordered;
    char *no_pocl; /* why not; NULL: it runs there */
    struct corpus_differs differs[CORPUS_MAX_DIFFERS];
};

struct corpus {
    char *no_pocl; /* why PoCL runs none of them */
    uint32_t n;
    struct corpus_kernel **kernels;
};

/* ---- table.c: false with a message on stderr where the file cannot be read or a directive is wrong ---- */
/* The version is PoCL's that there is, like "6.0"; "" where there is none. */
bool corpus_read(const char *path, const char *pocl_version, struct corpus *c);
void corpus_clear(struct corpus *c);

/* Buffers, images and pipes have memory: it is filled, shared with processes, and compared. */
static inline bool corpus_has_memory(const struct corpus_arg *a)
{
    return a->kind == INTERP_ARG_BUFFER || a->kind == INTERP_ARG_IMAGE || a->kind == INTERP_ARG_PIPE;
}
/* Buffers of a kernel lie one after the other: where that of argument `arg` begins. arg n_args: the end. */
uint64_t corpus_buffer_at(const struct corpus_kernel *k, uint32_t arg);

/* ---- images.c ---- */
/* Sets the format; gives the type that a channel has in memory, or NULL where there is no such format. */
const char *corpus_image_format(const char *order, const char *channel, struct ir_image *image, uint32_t *n_channels);
/* Adds what a word says to a sampler; false: none of its words. */
bool corpus_sampler_word(const char *word, uint32_t *bits);

/* ---- data.c: what a buffer holds before the kernel runs; the same each time ---- */
void corpus_fill(const struct corpus_arg *a, uint32_t index, void *to);

/* ---- arguments.c ---- */
/* Arguments as the interpreter takes them. */
struct corpus_arguments {
    struct interp_arg args[CORPUS_MAX_ARGS];
    struct ir_image images[CORPUS_MAX_ARGS];
    struct interp_pipe pipes[CORPUS_MAX_ARGS];
};
/* data: the buffers of the kernel. */
void corpus_arguments(const struct corpus_kernel *k, uint8_t *data, struct corpus_arguments *to);

/* ---- bounds.c ---- */
struct corpus_bound {
    double ulp;         /* units in the last place */
    double near;        /* relative to the larger of 1 and the value; 0: only ulp counts */
    bool any_zero;      /* +0 and -0 are the same */
    bool three_of_four; /* each fourth element is the padding of a vector of 3, which may hold anything */
    bool nothing;       /* not compared */
    bool zero;          /* both are 0 */
};
/* False where there is no such rule. */
bool corpus_bound(const char *rule, uint32_t float_size, struct corpus_bound *bound);

/* ---- compare.c ---- */
/* Compares a buffer under its rules, less what `differs` (may be NULL) says of them. Returns how many elements differ;
   `text` gets one sentence about the first. */
uint64_t corpus_compare(const struct corpus_arg *a, const void *want, const void *got,
                        const struct corpus_kernel *differs, char *text, size_t text_size);

/* ---- pocl.c: runs in a process of its own ---- */
/* The version of PoCL, like "6.0"; "" where there is none. */
void corpus_pocl_version(char *version, size_t size);
/* Runs the kernels of a program (PATH.spv, or PATH.bc where the device does not read SPIR-V) on the OpenCL device, from
   number `first` on. data[i] holds the buffers of kernel i; status[i] is TRIED when it begins and RAN when its results
   are there. Says on stderr what went wrong; false where the program cannot be built. */
enum corpus_pocl_status { CORPUS_POCL_NOT_RUN, CORPUS_POCL_TRIED, CORPUS_POCL_RAN };
bool corpus_pocl_run(const char *path, const struct corpus *c, uint32_t first, uint8_t *const *data,
                     volatile uint8_t *status);
