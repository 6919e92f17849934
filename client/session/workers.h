/* Threads of a session that work for its callers, and what they have still to do. */
#pragma once

#include "client/session/state.h"

enum { CLIENT_MOST_WORKERS = 64, CLIENT_DEFAULT_WORKERS = 4 };

struct client_task {
    TAILQ_ENTRY(client_task) link;
    int32_t priority;
    bool queued;
    /* In a thread of the session; ended: in that which disconnects it, as the session has ended. Frees the task, or
       leaves it to somebody. */
    void (*run)(struct client_task *task, bool ended);
};

/* Begins when a thread is free: of those that wait, one with the highest priority, of these the one that came first.
   False: there is no memory, or no thread can be started. */
bool client_task_add(fusion_session *s, struct client_task *task);
/* False: it has begun, or is over. */
bool client_task_take_back(fusion_session *s, struct client_task *task);
/* Before the session's memory goes: what has not begun ends, and what runs is waited for, but for the caller itself. */
void client_workers_end(fusion_session *s);
