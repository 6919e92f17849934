/* Executables finalized with debug: what their launches touch is checked against what was asserted, and slots without
   memory get some here. */
#pragma once

#include <stdint.h>

struct error;
struct executable;
struct program_step;
struct slot_memory;
struct assertion_check;

/* Before part `part` of a submission: gives the slots their memory; the first part starts from the beginning. 0, or -1
   with the error. */
int reference_debug_begin(struct executable *x, uint32_t part, struct slot_memory *slots, struct error *e);
/* A copy or fill has run. */
void reference_debug_transfer(struct executable *x, const struct program_step *step);
/* Of an executable for debugging that runs; NULL of others. */
struct assertion_check *reference_debug_watch(const struct executable *x);
void reference_debug_free(struct executable *x);
