/*
 * What runs now, for those who may have to end it: the watchdog and the fault handler. There is one
 * running submission at most, and whoever claims it is the one that completes it.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "proto/include/fusiond/status.h"

struct slot_memory;

/* Tells the client that a submission failed, and that the process is about to end. Must be safe in signal handlers. */
typedef void running_failed(uint64_t sequence, fusion_status status, uint64_t run_ns, const char *object,
                            const char *reason);

/* Before any thread starts. */
void running_init(running_failed *failed);
/* The slots stay unchanged until the submission is claimed. */
void running_begin(uint64_t sequence, const struct slot_memory *slots, uint32_t n_slots);
/* A device's own clock says that something the submission did took so long. Only the thread that runs it calls these.
 */
void running_took(uint64_t ns);
/* All of that since running_begin(); 0: no device has said anything. */
uint64_t running_measured(void);
/* What the submission does now: "kernel" and a name that lives as long as the submission. */
void running_step(const char *kind, const char *name);
/* In place of a sequence: somebody took the submission over and is about to end the process. */
#define RUNNING_ENDS UINT64_MAX

/* The sequence of the running submission, 0: none, or RUNNING_ENDS; the time it began (wait_now_ns()). */
uint64_t running_sequence(uint64_t *started_ns);
/* Of all who call one of these two, exactly one gets true. He completes it; the others must not touch it any more.
   The thread that runs it, at its end: */
bool running_claim(uint64_t sequence);
/* Those who end it before its end, and then the process: */
bool running_take_over(uint64_t sequence);

/* For the fault handler and the watchdog, after running_take_over(). */
void running_what(const char **kind, const char **name);
uint32_t running_slots(const struct slot_memory **slots);
void running_fail(uint64_t sequence, fusion_status status, uint64_t run_ns, const char *object, const char *reason);
