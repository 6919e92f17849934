/*
 * What runs now, for those who may have to end it: the watchdog, the fault handler, and who finds a deadlock. Several
 * submissions may run at a time; whoever claims one is the one that completes it.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "proto/include/fusiond/status.h"

enum { RUNNING_MOST = 64 }; /* submissions at a time */

struct running; /* a submission that runs */
struct slot_memory;

/* Tells the client that a submission failed, and that the process is about to end. Must be safe in signal handlers. */
typedef void running_failed(uint64_t sequence, fusion_status status, uint64_t run_ns, const char *object,
                            const char *reason);

/* Before any thread starts. */
void running_init(running_failed *failed);

/* ---- of the thread that takes submissions; threads that help it with a loop run what it does ---- */

/* The slots stay unchanged until the submission is claimed. limit_ms: its own time limit; 0: it has none. There are
   RUNNING_MOST at most, or it is refused: NULL. */
struct running *running_begin(uint64_t sequence, uint32_t limit_ms, const struct slot_memory *slots, uint32_t n_slots);
/* From here on the thread runs this one, which began before. True: it rested, and its time goes on. */
bool running_go_on(struct running *r);
/* A device's own clock says that something the submission did took so long. */
void running_took(uint64_t ns);
/* All of that since it began; 0: no device has said anything. */
uint64_t running_measured(const struct running *r);
/* What the submission does now: "kernel" and a name that lives as long as the submission. */
void running_step(const char *kind, const char *name);
/* Of all who call this or running_take_over(), exactly one gets true. He completes it; the others must not touch it any
   more. At its end: */
bool running_claim(struct running *r);

/* ---- of other threads ---- */

/* The calling thread runs this kernel of the submission; NULL: nothing any more. */
void running_beside(struct running *r, const char *kernel);
/* The calling thread helps the one that takes submissions with this kernel, while others are in other kernels; NULL:
   not any more. */
void running_here(const char *kernel);

/* What ran beside has ended: until the thread that takes submissions goes on with it, no time of it passes. */
void running_rest(struct running *r);

/* ---- ending a submission before its end, and then the process ---- */

/* A submission as it was seen, in case that another one has its place by now. */
struct running_seen {
    struct running *running;
    uint64_t sequence, started_ns; /* wait_now_ns() when it began */
    uint64_t limit_ms;             /* its own; 0: it has none */
};

bool running_see(struct running *r, struct running_seen *seen);
bool running_see_own(struct running_seen *seen); /* what the calling thread runs; false: nothing. Or the process ends */
/* Of all, the one whose time ends first; limit_ms is that of each without a shorter one of its own, 0: it has none.
   What of it has no limit at all is not seen. due_ns: when that is. */
bool running_see_due(uint64_t limit_ms, struct running_seen *seen, uint64_t *due_ns);
/* When that of this one ends, as far as it goes on; UINT64_MAX: never. For the thread that takes submissions. */
uint64_t running_due(const struct running *r, uint64_t limit_ms);
/* For who finds that n of them (most of them one) are to end: those that ended meanwhile have sequence 0 afterwards.
   False: all have, or somebody else is about to end the process. */
bool running_take_over(struct running_seen *seen, unsigned n);
/* Somebody is about to end the process. */
bool running_ends(void);

/* After running_take_over(); safe in signal handlers. What the calling thread does of it, or the submission itself. */
void running_what(const struct running_seen *seen, const char **kind, const char **name);
uint32_t running_slots(const struct running_seen *seen, const struct slot_memory **slots);
void running_fail(const struct running_seen *seen, fusion_status status, const char *object, const char *reason);
