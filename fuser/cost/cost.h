/*
 * What things cost: the one place that all stages of planning ask. It has the figures of the machine, measured once
 * (measure.c), weighs what kernels do (work.c, rounds.c; batch_work.c for kernels without code), and says what pays
 * (cost.c). Nothing that a kernel computes depends on it. Uses ir/ only.
 */
#pragma once

#include <stdbool.h>

#include "ir/base/nd_range.h"
#include "ir/core/ir.h"

/* 0: not known, what is usual counts. */
struct cost_machine {
    uint64_t operations;  /* that a core does in a microsecond, as cost_of_block() counts them */
    uint64_t bytes;       /* in and out of memory that all cores together move in a microsecond */
    uint64_t launch_ns;   /* until another thread has taken something up */
    uint64_t cache_bytes; /* that stay near the cores, for launches that run band by band; 0: none does */
    uint64_t own_bytes;   /* of them, in each core's own cache */
    uint32_t cores;       /* which work at a time; 0: one */
};

/* ---- the machine ---- */

/* However deep idle cores sleep: launches follow each other, and who has done his part of one looks for the next. */
enum { COST_MOST_LAUNCH_NS = 10000 };
/* Takes some 50 ms, with threads. lanes: 32-bit numbers that an instruction takes, 4, 8 or 16. */
void cost_measure(struct cost_machine *m, unsigned lanes);
enum { COST_FIGURES_BYTES = 24 };
/* What was measured, to be kept. */
void cost_figures_write(const struct cost_machine *m, uint8_t out[COST_FIGURES_BYTES]);
/* False: they are none. */
bool cost_figures_read(struct cost_machine *m, const void *bytes, size_t size);

/* ---- work ---- */

/* Operations of one work-item in compiled code, in additions. A load whose `scratch` is not 0 is a gather. */
uint64_t cost_of_block(const struct ir_block *block);
/* Of a loop: how often its body runs each time, known or assumed. */
uint64_t cost_rounds(const struct ir_inst *loop);
/* An if on the number of the work-group: what one of many does is next to nothing for each. */
bool cost_is_of_one_group(const struct ir_inst *branch);
/* Operations of all work-items together in batches: an estimate, since what loops and branches do is known when it
   runs. */
uint64_t cost_of_batches(struct ir_function *kernel, const struct nd_range *range);

/* ---- time ---- */

/* Of a launch with so many operations of all its work-items, and bytes over memory. */
uint64_t cost_launch_ns(const struct cost_machine *m, uint64_t operations, uint64_t bytes);

/* ---- what pays ---- */

/* more: operations that are there besides; less: those that are not done any more; bytes: of memory traffic that is
   saved, or of what launches that run in bands hand on in the cache. */
bool cost_recomputing_pays(const struct cost_machine *m, uint64_t more, uint64_t less, uint64_t bytes);
/* Bands, for launches that move so many bytes over memory apart, and so many together. */
bool cost_bands_pay(const struct cost_machine *m, uint64_t apart, uint64_t together);
/* What launches in bands may have in use in the cores' own caches. */
uint64_t cost_own_caches(const struct cost_machine *m);
/* Bands that are in work at a time: one for each core. */
uint32_t cost_bands_at_once(const struct cost_machine *m);
struct cost_work {
    uint64_t operations, bytes; /* of all work-items, and over memory */
};
/* A launch of its own for fewer work-items, rather than sharing that of more which have nothing to do with them. */
bool cost_launch_pays(const struct cost_machine *m, const struct cost_work *fewer, const struct cost_work *more);
/* A barrier instead of another launch, in work-groups whose longest row has so many work-items. */
bool cost_barrier_pays(uint64_t row);
