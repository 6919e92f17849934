/* Random programs for the service: a sequence of commands on buffers, USM allocations and images, the same for the same
   seed everywhere. It can be submitted command by command, recorded, or built as a graph (program_run.h). Whatever way,
   it leaves the same behind: kernels are free of races, and what they compute is defined to the last bit. Only
   functions of the mathematical library are not those of the processor on each device, but within OpenCL's bounds. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

enum {
    PROGRAM_ITEMS = 64,     /* of the largest ND-range */
    PROGRAM_ELEMENTS = 320, /* i32, of buffers and USM allocations */
    PROGRAM_BUFFERS = 6,    /* those from PROGRAM_KEPT on are internal */
    PROGRAM_KEPT = 4,
    PROGRAM_USM = 2,
    PROGRAM_TABLE = 4, /* addresses in the table: of USM allocations, in turn */
    PROGRAM_IMAGES = 3,
    PROGRAM_ARRAYS = PROGRAM_BUFFERS + PROGRAM_USM,
    PROGRAM_MOST_STEPS = 24,
    PROGRAM_KERNELS = 96,
    PROGRAM_NEIGHBOURS = 8, /* kernels one behind the other that have something in common */
    PROGRAM_SEEDS = 3000,   /* that take their kernels from the same module */
};

/* Kernels look at images of i32x4 pixels, at (i & 7, i >> 3). */
struct program_image {
    uint32_t width, height;
};
extern const struct program_image program_images[PROGRAM_IMAGES];

enum program_range { RANGE_LINE, RANGE_GROUPS, RANGE_PART, RANGE_SHORT, RANGE_PLANE, RANGES };

/* A kernel of the module: its arguments, a letter each: o the array it writes; a, b arrays it reads; q an array whose
   address it has; m, w an image it reads, one it writes; t the table of addresses; k a number; l work-group memory. */
struct program_kernel {
    char name[16], args[12];
    bool in_place;            /* a may be o */
    bool in_groups;           /* needs work-groups of 16 */
    bool loose, loose_writes; /* follows the addresses in the table: reads, writes through them */
    bool by_library;          /* calls functions whose last bits are a device's own */
};

enum program_step_kind {
    STEP_KERNEL,
    STEP_COPY,
    STEP_COPY_ROWS,
    STEP_FILL,
    STEP_UPLOAD,
    STEP_DOWNLOAD,
    STEP_HOST,
    STEP_HIDDEN_HOST,
    STEP_COPY_IMAGE,
    STEP_FILL_IMAGE
};

struct program_step {
    enum program_step_kind kind;
    /* KERNEL */
    const struct program_kernel *kernel;
    enum program_range range;
    uint32_t arrays[4]; /* of the arguments o, a, b, q */
    uint32_t images[2]; /* of m, w */
    int32_t number;     /* k; what is filled in */
    /* the others */
    uint32_t from, to;               /* arrays, or images */
    uint32_t from_offset, to_offset; /* bytes */
    bool hidden; /* nothing says what it touches: it comes behind all before, and all behind come after it */
};

struct program {
    uint32_t n_steps;
    struct program_step steps[PROGRAM_MOST_STEPS];
};

/* The module that seeds from number * PROGRAM_SEEDS on take their kernels from, as text: to be freed. */
char *program_module(uint64_t number);
/* Its kernels stay until a program of another module is made. */
void program_new(struct program *p, uint64_t seed);
/* Whether a kernel of it is by_library. */
bool program_needs_library(const struct program *p);
/* In words, for failures: to be freed. */
char *program_text(const struct program *p);
