/* Peers: the same work as plain C, hand-fused, with OpenMP; compiled strict and with -ffast-math from one source. */
#pragma once

#include <stddef.h>

typedef void peer_fn(size_t n, const float *a, const float *b, const float *c, float *out);

peer_fn four_kernels_strict, four_kernels_fast;
