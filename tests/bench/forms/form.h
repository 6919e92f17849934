/*
 * A work as users write it: kernels in OpenCL C, through clang and its translator, which we run fused and PoCL runs one
 * by one. A form is a table: what is in memory, what is launched; and a hand-fused peer in C. form.c runs any of them.
 */
#pragma once

#include <fusiond/fusiond.h>
#include <json.h>
#include <stdbool.h>
#include <stddef.h>

#include "tests/bench/launch.h"

enum form_role { FORM_INPUT, FORM_RESULT, FORM_BETWEEN };
enum form_type { FORM_F32, FORM_I32, FORM_U8 };

typedef void form_fill(void *memory, size_t count);

struct form_memory {
    enum form_role role;
    enum form_type type;
    size_t count;
    form_fill *fill; /* of inputs */
};

struct form {
    const char *work; /* its word on the command line */
    const char *title;
    const char *kernels; /* kernels/NAME.cl */
    const struct form_memory *memory;
    const struct launch *launches;
    unsigned n_memory, n_launches;
    /* The peer: memory as in the table, none for what is between. NULL: there is none, and results are compared with
       those of the kernels run one by one. */
    void (*c)(void *const *memory);
    /* The same in our language, over the same memory; may be NULL. */
    fusion_graph *(*own)(fusion_session *s, fusion_buffer *const *memory);
    const char *numexpr; /* work of numexpr_peer.py; its arrays are those of the table; may be NULL */
    bool pipeline;       /* counts in the mean of image pipelines against the same unfused */
    bool memory_bound;   /* what comes and goes decides: compared with the memory, too */
    bool counts;         /* how many results differ counts, not how much */
    double bound;        /* of that: largest relative difference, or share of results that differ */
    unsigned repeat;     /* runs per round */
};
#define FORM_TABLES(m, l)                                                                                              \
    .memory = (m), .n_memory = sizeof(m) / sizeof *(m), .launches = (l), .n_launches = sizeof(l) / sizeof *(l)

/* Inputs: floats from -1 to 1, from 0 to 1; bytes; small integers. */
form_fill form_fill_signed, form_fill_unit, form_fill_bytes, form_fill_small;

/* Runs ours and the peers interleaved, compares the results; adds a row. */
void form_measure(fusion_session *s, const struct form *f, json_object *rows);
/* Prints the ratios of all forms among the rows. */
void form_summary(json_object *rows);

/* The forms, each in a file of its work's name; NULL ends the list. */
extern const struct form *const forms[];

extern const struct form form_chain_small, form_chain, form_chain_16, form_layernorm, form_mandelbrot,
    form_black_scholes, form_stencil, form_softmax, form_rms_norm, form_blur, form_edges, form_corners, form_unsharp,
    form_bilateral_grid, form_local_laplacian, form_hydro_1024, form_hydro_2048, form_hydro_4096, form_histogram,
    form_prefix_sum, form_cg, form_cg_small, form_n_body, form_n_body_tiles, form_sparse, form_stencil_3d, form_matmul,
    form_transpose_naive, form_transpose_tiles;
