/*
 * Peers: the same work as plain C, hand-fused, with OpenMP. From one source twice, strict and with -ffast-math; from
 * another with explicit vectors. All of them, and we, read and write the data of one `struct peer_data`.
 */
#pragma once

#include <stddef.h>

struct peer_data {
    size_t rows, columns; /* 1-D works: one row */
    const float *in[3];
    void *out[2]; /* floats; mandelbrot: 32-bit integers */
};

typedef void peer_fn(const struct peer_data *d);

enum { MANDELBROT_ROUNDS = 256 };
#define MANDELBROT_LEFT -2.0f
#define MANDELBROT_TOP -1.5f
#define MANDELBROT_STEP (3.0f / 1024)
#define LAYERNORM_EPSILON 1e-5f
#define BLACK_SCHOLES_RATE 0.03f
#define BLACK_SCHOLES_VOLATILITY 0.3f

peer_fn chain_strict, chain_fast, chain_vector;
peer_fn mandelbrot_strict, mandelbrot_fast, mandelbrot_vector;
peer_fn layernorm_strict, layernorm_fast, layernorm_vector;
peer_fn black_scholes_strict, black_scholes_fast, black_scholes_vector;
