/* The state of a session. Rooms above keep theirs in parts that the session only frees. */
#pragma once

#include <fusiond/fusiond.h>
#include <pthread.h>
#include <sys/queue.h>

#include "proto/ring.h"

/* First member of every object that its session frees at the latest, those that were made last first. */
struct client_object {
    LIST_ENTRY(client_object) link;
    void (*free)(struct client_object *object); /* memory only, no requests */
};

struct fusion_session {
    LIST_ENTRY(fusion_session) link; /* fork.c */
    bool foreign;                    /* it is that of the process that forked this one */
    int fd;
    pid_t daemon_pid; /* of a private daemon; 0: none */
    int event_fd;
    struct ring *ring;
    uint32_t request_limit_ms, n_threads;

    /* Locks that may be held for long, in the order in which they are taken. */
    pthread_mutex_t turn_lock; /* recursive: runs of executables, one after another (exec/submit.c) */
    /* Under it, what queues hold back (queue/window.c): */
    void (*flush)(fusion_session *s); /* submits it; NULL: no queue does that */
    fusion_queue *held;               /* the queue that holds something back, one at most */
    struct {
        _Atomic uint64_t commands, windows, fused, shapes;
    } windows;                        /* fusion_window_counters */
    pthread_mutex_t pipe_lock;        /* module/pipe.c */
    pthread_mutex_t attach_lock;      /* memory/memory.c */
    pthread_mutex_t request_lock;     /* sending (request.c) */
    STAILQ_HEAD(, outgoing) outgoing; /* not sent to their end yet */
    uint32_t next_request;

    /* Of moments, but before `lock`: */
    pthread_mutex_t reply_lock; /* receiving (request.c) */
    pthread_cond_t replied;     /* somebody has read something, CLOCK_MONOTONIC */
    struct proto_reader *reader;
    bool reading; /* a thread does, without the lock */
    LIST_HEAD(, client_awaiting) awaiting;
    struct client_late *late;
    uint32_t n_late, late_promised, late_capacity;
    _Atomic bool has_last_words;
    fusion_error last_words; /* of the service, where it closed the session */
    struct release {
        const char *method, *key;
        uint64_t id;
    } owed[64]; /* releases that there was no memory for: they go with the next request */
    uint32_t n_owed;
    _Atomic bool broken; /* the connection has ended */

    struct client_watcher *watcher; /* watcher.c; the same */
    struct client_workers *workers; /* workers.c; NULL: there were none yet. Under `lock` */

    fusion_module *pipe_modules; /* those with pipes, under pipe_lock */

    pthread_mutex_t print_lock; /* recursive; held while what was printed is handed on (print.c) */
    fusion_print_function *print;
    void *print_data;

    pthread_mutex_t lock; /* everything below, and the ring's producer side */
    LIST_HEAD(, client_object) objects;
    _Atomic uint64_t next_sequence; /* both are read without the lock, too (held.c) */
    _Atomic uint64_t next_reserved; /* from here on: numbers of commands that a queue holds back (push.h) */
    struct client_spans *spans;     /* wait.c; NULL: there were none yet */
    bool uses_gpus;                 /* something that runs on a GPU was submitted */
    struct failure *failures;       /* wait.c */
    uint32_t n_failures;
    struct client_moments { /* when submissions were, of the last ones; times.c */
        fusion_event event;
        uint64_t queued_ns, submitted_ns;
    } * moments;                   /* NULL: nobody wanted to know yet */
    bool failed_here;              /* some are of submissions that never reached the executor */
    struct memory_table *memories; /* memory/table.c; NULL: there were none yet */
    struct recordings *recordings; /* graph/recording.c; the same */
};
