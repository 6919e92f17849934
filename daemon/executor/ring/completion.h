/* What the client learns of a submission, through the ring: that it is complete, and what its kernels printed. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "proto/include/fusiond/status.h"

struct ring;

/* Before any thread starts. event_fd: readable at its other end when completions were told, where the client wants
 * that. */
void completion_init(struct ring *ring, int event_fd);
/* Text for the client, before its submission is told as complete; with how many messages had no room. */
void completion_print(const char *text, size_t bytes, uint64_t dropped);
/* So many bytes were moved to devices and back, ever. */
void completion_moved(uint64_t to_device, uint64_t from_device);
/* Whether the client wants to know when steps run, from the submission that begins now on. */
bool completion_wants_times(void);
/* The client wants the submission to end. */
bool completion_is_cancelled(uint64_t sequence);
struct ring_time;
/* The thread that takes submissions says so. */
void completion_time(const struct ring_time *time);
/* All before this one are complete, and it is not. The thread that takes submissions says so. */
void completion_oldest(uint64_t sequence);
/* All up to this one are: those that were told while older ones were not. */
void completion_advance(uint64_t sequence);
/* Wakes the thread that takes submissions. */
void completion_wake(void);
/* For a submission that was claimed (run/running.h), or never began. Safe in signal handlers. */
void completion_tell(uint64_t sequence, fusion_status status, uint64_t run_ns, const char *object, const char *reason);
/* The same for one that was taken over: whoever learns of it finds the ring restarting, so that what he submits next
   waits for the new executor. */
void completion_tell_last(uint64_t sequence, fusion_status status, uint64_t run_ns, const char *object,
                          const char *reason);
/* The executor that was started in place of another has what it needs. */
void completion_resume(void);
