/* A process of the daemon under test: started alone, spoken to over its connection. */
#pragma once

#include <stdbool.h>
#include <sys/types.h>

#include "proto/frame.h"
#include "proto/writer.h"

struct child {
    pid_t pid;
    int connection;
    struct proto_reader *reader;
    uint32_t next_id;
    bool by_job; /* a compiler: each request is a job, with a connection of its own */
};

/* Starts fusiond-<kind>, the build's own ($FUSIOND_BUILD_ROOT) or $FUSIOND_<KIND>, with the connection as
   descriptor 3 and fds as 4, 5 ... argv ends in NULL and is without the program's name; may be NULL. Fails
   the test where it cannot. */
void child_start(struct child *c, const char *kind, const int *fds, unsigned n_fds, const char *const *argv);
/* Begins a request; the caller packs params and gives it to child_call(). */
void child_begin(struct child *c, struct proto_writer *w, const char *method);
/* Sends the request and receives the reply (notices on the way are dropped): its status. The reply is the
   caller's to clear. FUSION_CONNECTION where the process is gone. */
fusion_status child_call(struct child *c, struct proto_writer *w, struct proto_message *reply);
/* The same where only the status matters. */
fusion_status child_do(struct child *c, struct proto_writer *w);
/* The next message, within 20 s. False at the end of the stream. */
bool child_receive(struct child *c, struct proto_message *m);
/* Waits for the process to end, at most 20 s (then it is killed and the test fails): its wait status. */
int child_wait(struct child *c);
/* Closes the connection and returns the wait status as child_wait() does. */
int child_stop(struct child *c);
