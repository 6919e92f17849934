/*
 * What runs now, for those who may have to end it: the watchdog and the fault handler. There is one
 * running submission at most, and whoever claims it is the one that completes it.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "proto/include/fusiond/status.h"

struct ring;

/* A slot's memory during a submission. */
struct running_slot {
    const char *name;
    uint8_t *memory; /* NULL: not bound */
    uint64_t bytes;  /* of the slot */
};

/* Before any thread starts. */
void running_init(struct ring *ring, int event_fd);
/* The slots stay unchanged until the submission is claimed. */
void running_begin(uint64_t sequence, const struct running_slot *slots, uint32_t n_slots);
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
/* Text for the client, before its submission is told as completed; with how many messages had no room. */
void running_print(const char *text, size_t bytes, uint64_t dropped);
/* For a submission that was claimed, or never began. Safe in signal handlers. */
void running_complete(uint64_t sequence, fusion_status status, uint64_t run_ns, const char *object, const char *reason);
/* The same for one that was taken over: whoever learns of it finds the ring restarting, so that what he submits next
   waits for the new executor. */
void running_fail(uint64_t sequence, fusion_status status, uint64_t run_ns, const char *object, const char *reason);
/* The executor that was started in place of another has what it needs. */
void running_resume(void);

/* For the fault handler and the watchdog, after running_take_over(). */
void running_what(const char **kind, const char **name);
uint32_t running_slots(const struct running_slot **slots);
