/* The handles of a queue's commands, found again by what a command is: an executable of one node each. */
#pragma once

#include "client/exec/exec.h"

struct queue_handles;

/* In use until it is released, and perhaps longer, for the same command again. */
struct queue_handle {
    fusion_exec *exec;
    uint8_t *key; /* the wire graph and module ids */
    size_t key_size;
    unsigned users; /* this and the next under the lock of the handles */
    bool kept;
};

struct queue_handles *queue_handles_new(void); /* NULL: no memory */
/* The handle of a graph of one command; finalizes it where there is none. alone: nobody else uses it meanwhile. */
fusion_status queue_handles_take(struct queue_handles *handles, fusion_graph *g, bool alone,
                                 struct queue_handle **handle);
void queue_handles_release(struct queue_handles *handles, struct queue_handle *handle);
void queue_handles_end(struct queue_handles *handles);  /* their executables, of which none is in use */
void queue_handles_free(struct queue_handles *handles); /* memory only; NULL is fine */
