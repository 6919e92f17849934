/*
 * Executor processes are started one ahead, since starting takes milliseconds: one waits for the next session that
 * needs one. It has no descriptor but its connection until then (docs/protocol.md, "begin").
 */
#pragma once

#include <stdbool.h>

#include "daemon/broker/core/broker.h"

struct spare;

/* Starts one. NULL: out of memory. */
struct spare *spare_new(struct broker *broker);
/* Ends the one that waits. NULL is fine. */
void spare_free(struct spare *spare);

struct started {
    struct child *child;
    int connection; /* the broker's end */
};

/* The one that waits, or else, as always with an option of the executor (NULL: none) and in a control group (-1: none),
 * one that is started now; on_exit is told of its end. False: none could be started. */
bool spare_take(struct broker *broker, const char *option, int cgroup, child_exit_fn *on_exit, void *data,
                struct started *started);
