/* Requests that take time: what their handlers keep, and what the session counts of them. */
#pragma once

#include <stdint.h>
#include <sys/queue.h>

#include "daemon/broker/core/user.h"
#include "proto/frame.h"

struct session;

/* A request whose reply comes later; the first member of what its handler keeps. */
struct operation {
    LIST_ENTRY(operation) link;
    struct operations *all;
    struct session *session;
    uint32_t request;      /* id */
    size_t bytes;          /* of the request: many large ones hold up the reading of more */
    struct user_cost held; /* what it makes the daemon hold until it ends, charged to the user */
    uint64_t started_ns;
    bool settled; /* what it makes is about to be there: it is not cancelled alone any more */
    void (*cancel)(struct operation *operation); /* frees it, with no reply; it has left the list already */
};

/* Those of a session that are under way. */
struct operations {
    LIST_HEAD(, operation) list;
    struct session *session;
    struct user *user; /* whom they are charged to */
    uint32_t n;
    size_t bytes;
};

void operations_init(struct operations *all, struct session *session, struct user *user);
/* Ends all, without replies. */
void operations_cancel(struct operations *all);

/* The one of this request that can be cancelled by itself; NULL: there is none. */
struct operation *operations_find(struct operations *all, uint32_t request);

void operation_begin(struct operation *o, struct operations *all, const struct proto_message *m,
                     void (*cancel)(struct operation *operation));
/* It holds so much more until it ends, unless its user may not (error). */
bool operation_hold(struct operation *o, const struct user_cost *cost, struct error *error);
/* It holds nothing more: what it held is about to be charged to an object. */
void operation_release(struct operation *o);
/* It is about to be answered: takes it from the list, and gives back what it held. */
void operation_end(struct operation *o);
