/* Queues that record into graphs. */
#pragma once

#include "client/graph/parts.h"
#include "client/session/wait.h"

struct fusion_queue {
    struct client_object object;
    fusion_session *session;
    /* Running at once (queue/queue.c). */
    struct queue_handles *handles;
    struct client_open open;       /* what it has submitted */
    fusion_submit_options options; /* of what it submits */
    struct queue_window *window;   /* queue/window.c; NULL: it never gathered any */
    /* Recording. */
    fusion_graph *recording;     /* NULL: runs at once */
    fusion_queue *next_recorder; /* into the same graph */
    fusion_event *waits;         /* what the next command depends on */
    uint32_t n_waits;
    struct queue_order { /* of what it has recorded so far, into the graph of that number */
        uint32_t recording;
        bool any_here, any_standing;
        fusion_node last_here; /* that runs in this process */
        fusion_node standing;  /* the last one that all before come before, and all behind after: */
        fusion_node *since;    /* the nodes since */
        uint32_t n_since, since_capacity;
    } order;
};

void client_queue_stop_recording(fusion_queue *q); /* where it does */
/* The queue has added a node to the graph that it records: its edges, and its event. Takes it back where it must not
 * be. */
fusion_status client_recorded(fusion_queue *q, fusion_event *event);
/* The submission that an event of a recorded node stands for; FUSION_INVALID: there is none yet. */
fusion_status client_event_resolve(fusion_session *s, fusion_event *event);
/* May what was recorded under that number (0: nothing was) be submitted now? Gives the n submissions that it comes
   after in memory to be freed. And then: it is. */
fusion_status client_recording_ready(fusion_session *s, uint32_t recording, fusion_event **before, uint32_t *n);
void client_recording_submitted(fusion_session *s, uint32_t recording, fusion_event event);
