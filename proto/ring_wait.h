/*
 * Waiting at the ring. Who waits spins for a moment before it sleeps, as long as the other side does not need this
 * processor: to wake somebody up takes longer than a small kernel.
 *
 * Workers are threads that help the executor's first thread with a loop. Those that sleep are called: the client that
 * waits, and has nothing else to do, wakes them. Where that leaves no processor to the client, it lends them its own,
 * and sleeps until they give it back.
 */
#pragma once

#include "proto/ring.h"

/* Client: waits until the submission has its outcome, the state changes, or the timeout (ms, -1: none). True when it
   has; the second: when it and all before it have. */
bool ring_wait(struct ring *r, uint64_t sequence, int timeout_ms);
bool ring_wait_all(struct ring *r, uint64_t sequence, int timeout_ms);
/* Client: a number that changes with each completion and each change of the state, and waiting until it does, without
   spinning; and changing it. */
uint32_t ring_completion_bell(const struct ring *r);
void ring_wait_completion(struct ring *r, uint32_t seen, int timeout_ms);
void ring_wake_clients(struct ring *r);
/* Executor: waits for an entry, spinning for spin_ns first, or until the bell has rung since its number was seen. */
void ring_wait_entry(struct ring *r, uint32_t seen, uint64_t spin_ns, int timeout_ms);
/* Executor: the same for the bell alone, where there is no room for entries. */
void ring_wait_bell(struct ring *r, uint32_t seen);
/* Executor: the bell's number, to be taken before the look at what else there is to do; and ringing it. */
uint32_t ring_entry_bell(const struct ring *r);
void ring_wake_executor(struct ring *r);

/* ---- of the executor ---- */

/* Wakes n workers; borrow: they need the client's processor. May leave it to the client, and does so where waking them
   does not pay for the caller. */
void ring_call_workers(struct ring *r, uint32_t n, bool borrow, bool pays);
/* There is nothing to do any more for workers that were called. */
void ring_end_call(struct ring *r);
/* A worker: takes the bell's number, looks for work, and sleeps unless the bell has rung since. */
uint32_t ring_worker_bell(struct ring *r);
void ring_worker_sleep(struct ring *r, uint32_t seen);
/* A client that lent a processor, if there is one, need not sleep any longer. */
void ring_give_back(struct ring *r);
/* Does the caller run on the processor of the client, or of the thread that takes entries? */
bool ring_on_client_cpu(const struct ring *r);
bool ring_on_executor_cpu(const struct ring *r);
