/*
 * Running the steps of an executable: launches, copies, fills. This room runs what is loaded: on threads (pool.h), and
 * so that it can be ended when it faults (fault.h) or takes too long (watchdog.h). It uses the room program.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "daemon/executor/program/device.h"

/* The steps of one part of a submission, on their way. */
struct steps {
    const struct launch_context *context;
    struct executable *x;
    uint32_t part;
    uint32_t next, at; /* step, in which part */
    /* Launches, or spares of one, that are one after another what comes before that step, but for those that run
       together. */
    struct sequence {
        uint32_t n, begun;
        uint32_t *launches;
        bool *together; /* with the one before */
    } sequence;
    /* What began last, where somebody wants to know when steps run; n_steps 0: nothing that is told. */
    struct step_time {
        uint32_t step, n_steps;
        uint64_t began_ns;
    } time;
    bool waits; /* for what runs beside */
    struct beside beside;
};

enum steps_state { STEPS_FAILED, STEPS_DONE, STEPS_WAIT };

/* With the argument blocks filled in. */
void steps_begin(struct steps *s, const struct launch_context *context, struct executable *x, uint32_t part,
                 struct running *running);
/* On, until all are done, one has failed (the error), or something runs beside: then again when the context's wake()
   was called. */
enum steps_state steps_go_on(struct steps *s, struct error *e);
void steps_end(struct steps *s);
/* Does a launch of it sleep, for what one of the executable may do? */
bool steps_sleep_for(const struct steps *s, const struct executable *x);
