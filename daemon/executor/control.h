/* The executor's side of the connection to the broker. */
#pragma once

#include "daemon/executor/program/buffers.h"
#include "daemon/executor/program/executables.h"
#include "daemon/executor/program/states.h"

struct control {
    int connection;
    struct buffers *buffers;
    struct executables *executables;
    struct states *states;
};

/* Answers requests until the broker closes the connection; gives the process's exit code. */
int control_run(struct control *c);
/* Sends the notice that the ring holds garbage. From any thread. */
void control_ring_corrupt(struct control *c, const char *reason);
