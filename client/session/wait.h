/* Submissions on their way: whether they are complete, and how they went. */
#pragma once

#include "client/session/state.h"

enum { CLIENT_WAIT_SLICE_MS = 100 };

/* One entry stands for all numbers from `first` to `last`: its outcome is theirs. Session locked. */
void client_keep_span(fusion_session *s, fusion_event first, fusion_event last);
/* The submission failed before it reached the executor, with the error recorded last. Session locked. */
void client_add_failure(fusion_session *s, fusion_event event);

/* Room for the outcomes of failed submissions. False: no memory. */
bool client_failures_open(fusion_session *s);
/* Keeps the outcome of a failed submission before the ring uses its place again. Session locked. */
void client_keep_failure(fusion_session *s, fusion_event event);

/* All up to this one are complete. */
bool client_completed(const fusion_session *s, fusion_event event);
/* This one is. */
bool client_ended(fusion_session *s, fusion_event event);
/* Of one that is complete: how it went, and what it printed. run_ns may be NULL. */
fusion_status client_outcome(fusion_session *s, fusion_event event, uint64_t *run_ns);
fusion_status client_wait(fusion_session *s, fusion_event event, int timeout_ms, uint64_t *run_ns);
/* Until this one and all that were submitted before it are complete; gives how this one went. */
fusion_status client_wait_all(fusion_session *s, fusion_event event);

/* Submissions that somebody has to wait for, as they may end in any order. Session locked, but for the last one. */
struct client_open {
    fusion_event last; /* 0: there were none */
    fusion_event all;  /* too many: all up to this one */
    uint32_t n;
    fusion_event events[6]; /* before the last one; some may be complete */
};
void client_open_add(const fusion_session *s, struct client_open *open, fusion_event event);
/* Gives how the last one went. How the others did, their own waiters learn. */
fusion_status client_open_wait(fusion_session *s, const struct client_open *open);

/* The ring is told that the submission is to end. FUSION_BUSY: its entry stands for others, too. */
fusion_status client_cancel(fusion_session *s, fusion_event event);

bool client_ring_is(const fusion_session *s, enum ring_state state);
bool client_daemon_gone(fusion_session *s);
/* The session was closed by the service, whose last words a request still finds. */
fusion_status client_closed(fusion_session *s);
