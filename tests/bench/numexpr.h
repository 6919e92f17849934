/* The peer that is numexpr, in a process that keeps running and times itself on request. */
#pragma once

#include <stdbool.h>

#include "tests/bench/peers.h"

struct numexpr;

/* The work's name, as numexpr_peer.py knows it, and arrays of `columns` floats each; NULL: numexpr is not there. Its
   results come into the out arrays with numexpr_results(). */
struct numexpr *numexpr_open(const char *script, const char *work, const struct peer_data *data, unsigned n_in,
                             unsigned n_out);
bool numexpr_run(void *numexpr, unsigned repeat, double *ms);
void numexpr_results(const struct numexpr *x, struct peer_data *data);
void numexpr_close(struct numexpr *x);
