/* Executables finalized with debug: their launches are watched, and slots without memory get some here. */
#pragma once

#include "ir/base/error.h"
#include "daemon/executor/executables.h"

struct running_slot;
struct watched;

/* Before part `part` of a submission: gives the slots their memory; the first part starts from the beginning. 0, or -1
   with the error. Nothing to do where the program is not for debugging. */
int watched_begin(struct executable *x, uint32_t part, struct running_slot *slots, struct error *e);
/* A copy or fill has run. */
void watched_step(struct executable *x, const struct program_step *step);
struct watch *watched_watch(struct watched *w); /* NULL for NULL */
void watched_free(struct watched *w);           /* NULL is fine */
