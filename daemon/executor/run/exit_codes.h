/* How an executor ends, told to the broker by its exit status. */
#pragma once

enum executor_exit {
    EXECUTOR_GOES_ON = -1,       /* it does not end */
    EXECUTOR_EXIT_CLOSED = 0,    /* the broker closed the connection */
    EXECUTOR_EXIT_FAULT = 81,    /* a kernel faulted; the running submission was completed with the reason */
    EXECUTOR_EXIT_TIMEOUT = 82,  /* the time limit passed; the running submission was completed with the reason */
    EXECUTOR_EXIT_CORRUPT = 83,  /* the ring held garbage; the notice ring.corrupt was sent */
    EXECUTOR_EXIT_PROTOCOL = 84, /* the broker's messages could not be read */
    EXECUTOR_EXIT_SETUP = 85,    /* descriptors, threads or the sandbox could not be set up; stderr says what */
    EXECUTOR_EXIT_INTERNAL = 86, /* a fault outside of any submission */
    EXECUTOR_EXIT_DEADLOCK =
        88,                    /* kernels waited for each other's pipes; the running submission was completed with it */
    EXECUTOR_EXIT_LOST = 87,   /* the driver lost its GPU; the running submission was completed with the reason */
    EXECUTOR_EXIT_STATES = 89, /* a program has variables or pipes: to be started again as one for such, no submission
                                  is lost */
};
