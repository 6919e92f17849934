/* The executor's side of the connection to the broker. */
#pragma once

#include "daemon/executor/program/buffers.h"
#include "daemon/executor/program/executables.h"
#include "daemon/executor/program/states.h"
#include "daemon/gpu/description.h"
#include "proto/frame.h"

struct control {
    int connection;
    struct proto_reader *reader;
    struct buffers *buffers;
    struct executables *executables;
    struct states *states;
    uint32_t asked; /* the request that is answered later */
};

/* Of an executor for GPUs, before that: waits for what is known of them, of at most `room`, and answers when their
   drivers are loaded: how many of them were tried out. EXECUTOR_GOES_ON, or the process's exit code. */
int control_drivers(struct control *c, struct gpu_description *known, unsigned room, unsigned *n);
int control_drivers_loaded(struct control *c, unsigned tested);
/* Waits for the first request of a session, which gives the session's ring and the socket that tells completions.
   EXECUTOR_GOES_ON, or the process's exit code. */
int control_begin(struct control *c, int *ring, int *events);
/* Answers requests until the broker closes the connection; gives the process's exit code. */
int control_run(struct control *c);
/* Sends the notice that spares of an executable run: code for them would be of use. From any thread. */
void control_spares_run(struct control *c, uint64_t executable);
/* Sends the notice that the ring holds garbage. From any thread. */
void control_ring_corrupt(struct control *c, const char *reason);
