/* What random kernels of all kinds are made of: parameters, helper functions, first loads and last stores. */
#pragma once

#include "tests/support/random_steps.h"

void parts_buffer(struct steps *k, struct random_arg *a); /* of a random type, with room for each work-item */
void parts_scalar(struct steps *k, struct random_arg *a, ir_type t);
void parts_local(struct steps *k, struct random_arg *a); /* an element for each work-item of a group */
/* One parameter of k->f for each argument; scalars become values that can be used. */
void parts_params(struct steps *k);

/* Functions that compute a number from numbers, for the kernel to call. */
void parts_helpers(struct steps *k);

/* Something of each readable buffer, so that the rest has data to work on. */
void parts_load_all(struct steps *k);
/* A store to each writable buffer, so that what was computed shows. */
void parts_store_all(struct steps *k);
