/* Child processes: started with chosen descriptors, ended with the daemon whatever ends it, reaped. */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>
#include <sys/types.h>
#include <uv.h>

#include "daemon/broker/core/priority.h"

struct child;
/* status: as from waitpid. The child is freed afterwards. */
typedef void child_exit_fn(void *data, int status);

struct children {
    uv_signal_t signal;
    LIST_HEAD(, child) list;
};

void children_start(struct children *children, uv_loop_t *loop);
/* Kills and reaps all, calling nobody; stops watching. */
void children_end(struct children *children);

/* A child that was to be in a control group and could not be ends with this and the errno as its exit status. */
enum { CHILD_EXIT_NO_CGROUP = 128 };

/*
 * command (a path, arguments, NULL) is run with fds as its descriptors 3, 4 ... (the caller keeps its own), standard
 * ones inherited, TMPDIR set where temporary is not NULL. It leads a process group, so that what it starts ends with
 * it, and is killed when the daemon dies. cgroup: the folder of the control group (version 2) that it enters before it
 * is run; -1: the daemon's. NULL with errno.
 */
struct child *child_spawn(struct children *children, const char *const *command, const int *fds, uint32_t n_fds,
                          const char *temporary, int cgroup, const struct priority *priority, child_exit_fn *on_exit,
                          void *data);
/* Somebody else is told of its end from now on. */
void child_hand_over(struct child *child, child_exit_fn *on_exit, void *data);
/* It may be a while before on_exit is called. */
bool child_has_ended(const struct child *child);
pid_t child_pid(const struct child *child);
/* SIGKILL to its group; on_exit follows. */
void child_kill(struct child *child);
/* Nobody is told of its end, which it finds by itself. The child may be NULL. */
void child_release(struct child *child);
/* SIGKILL, but nobody is told. The child may be NULL. */
void child_abandon(struct child *child);
/* "was killed by signal 9 (Killed)", "ended with exit status 1". */
void child_describe(int status, char *text, size_t size);
