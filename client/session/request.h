/* Requests to the service, each with its reply. */
#pragma once

#include <time.h>

#include "client/session/state.h"
#include "proto/frame.h"
#include "proto/writer.h"

/* Packs the params of a request. */
typedef void client_pack_fn(struct proto_writer *w, const void *data);

/* One request and its reply. reply may be NULL; otherwise proto_message_clear() it on success. */
fusion_status client_request(fusion_session *s, const char *method, client_pack_fn *pack, const void *data,
                             const int *fds, uint32_t n_fds, struct proto_message *reply);
/* The same. Where its reply could not be waited for and the service is going to do it all the same, *late is its
   number, for client_request_resume(), which goes on waiting for its success. `pending`: it has to be asked for again.
 */
fusion_status client_request_late(fusion_session *s, const char *method, client_pack_fn *pack, const void *data,
                                  const int *fds, uint32_t n_fds, struct proto_message *reply, uint32_t *late);
fusion_status client_request_resume(fusion_session *s, const char *method, uint32_t id, bool *pending);
/* What the requests of a thread are for, so that another one can cancel them. */
struct client_ticket {
    fusion_session *session;
    uint32_t id; /* of the last request; 0: there was none. Under the session's reply_lock, as the next */
    bool cancelled;
};
/* Of the calling thread, from now on; NULL: nothing. */
void client_ticket_use(struct client_ticket *ticket);
/* A request that is under way ends with FUSION_CANCELLED, if the service can stop it, and so do all that follow. */
fusion_status client_ticket_cancel(struct client_ticket *ticket);
void client_requests_clear(fusion_session *s);
/* A request whose params are one id; its failure is of no interest (releases). */
void client_release(fusion_session *s, const char *method, const char *key, uint64_t id);
uint64_t client_now_ms(void);
struct timespec client_time_at(uint64_t ms); /* of client_now_ms(), for waits with CLOCK_MONOTONIC */
