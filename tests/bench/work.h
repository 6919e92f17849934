/* A work of the benchmark: the same for us and for all peers. */
#pragma once

#include <fusiond/fusiond.h>
#include <json.h>

#include "tests/bench/launch.h"
#include "tests/bench/peers.h"

void bench_check(fusion_status status); /* anything but success ends the program */

struct work_buffers {
    fusion_buffer *in[3], *out[2];
};

struct work {
    const char *name;
    size_t rows, columns;
    unsigned n_in, n_out;
    size_t in_count[3], out_count; /* in numbers of 4 bytes */
    bool counts;                   /* the results are integers: how many differ counts */
    double bound;                  /* largest relative difference of a result; of integers, the share that differs */
    unsigned repeat;               /* runs per round */
    float (*input)(unsigned index, size_t i);
    fusion_graph *(*graph)(fusion_session *s, const struct work *w, const struct work_buffers *b);
    bool unfused; /* shown too */
    peer_fn *c_strict, *c_fast, *c_vector;
    struct {
        const char *source;
        struct launch launch; /* without arguments: they are the inputs, then the outputs */
    } opencl;
    const char *numexpr;
};

/* Makes the buffers, runs ours and the peers interleaved, compares the results; adds a row. */
void work_measure(fusion_session *s, const struct work *w, json_object *rows);

/* chain.c, mandelbrot.c, layernorm.c, black_scholes.c */
void bench_chain(fusion_session *s, size_t n, unsigned repeat, json_object *rows);
void bench_mandelbrot(fusion_session *s, json_object *rows);
void bench_layernorm(fusion_session *s, json_object *rows);
void bench_black_scholes(fusion_session *s, json_object *rows);

/* Kernels with ids of several types (ids.c). */
void bench_ids(fusion_session *s, json_object *rows);

/* The graphs over the work's buffers. */
fusion_graph *mandelbrot_graph(fusion_session *s, const struct work *w, const struct work_buffers *b);
fusion_graph *layernorm_graph(fusion_session *s, const struct work *w, const struct work_buffers *b);
fusion_graph *black_scholes_graph(fusion_session *s, const struct work *w, const struct work_buffers *b);
/* The four kernels over n floats; salt makes another module of it, so that nothing is cached. */
fusion_graph *chain_graph(fusion_session *s, size_t n, int salt, const struct work_buffers *b);
