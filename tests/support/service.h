/* A fusiond of a test's own: socket, cache folder and temporary folder in one folder that goes with it. */
#pragma once

#include <fusiond/fusiond.h>
#include <sys/types.h>

#include "tests/support/fork.h"

struct service {
    char folder[64]; /* everything the daemon leaves on disk lies here */
    char socket[96], cache[96];
    pid_t pid;
    uid_t uid; /* whose it is; 0: the test's own user */
};

/* Starts build/daemon/broker/fusiond ($FUSIOND) with further options (a NULL-terminated list or NULL) and waits
   until it answers. Fails the test where it does not. */
void service_start(struct service *s, const char *const *options);
/* The same under another account, with a socket that is open to every user. Only root can. */
void service_start_as(struct service *s, uid_t uid, const char *const *options);
/* Starts it again in the same folder. */
void service_restart(struct service *s, const char *const *options);
/* SIGTERM, and waits; the exit status must be 0. The folder is kept. */
void service_stop(struct service *s);
/* Stops it where it runs and removes the folder. */
void service_clear(struct service *s);
fusion_session *service_connect(const struct service *s);

/* Ends the test with the library's last error where status is not the expected one. */
void expect_status(fusion_status status, fusion_status expected, const char *file, int line);
#define expect_ok(call) expect_status((call), FUSION_SUCCESS, __FILE__, __LINE__)
#define expect_error(call, expected) expect_status((call), (expected), __FILE__, __LINE__)
/* Does the last error's object or reason contain the text? Ends the test where not. */
void expect_reason(const char *text, const char *file, int line);
#define expect_in_reason(text) expect_reason((text), __FILE__, __LINE__)

/* Is it on this machine? */
bool service_has_device(fusion_session *session, const char *name);
/* A whole number of the daemon's status. */
long long service_counter(fusion_session *session, const char *key);
/* Not one that has ended and that its parent, which may be somebody who never looks, has not asked after. */
bool process_lives(pid_t pid);
/* The pids of the daemon's direct children whose command name begins with name; at most max. Returns their number. */
int service_children(const struct service *s, const char *name, pid_t *pids, int max);
/* Executors only: that of the newest session is the last one. waiting: those that have no session yet. */
int service_executors(const struct service *s, bool waiting, pid_t *pids, int max);
/* An executor that was started with this option; 0: there is none. */
pid_t service_executor_with(const struct service *s, const char *wanted);
/* An executor for GPUs. */
pid_t service_gpu_executor(const struct service *s);
/* Resident memory of a process in bytes. */
long long resident_bytes(pid_t pid);

/* IR text of small kernels used by many tests: add, multiply, scale (i32), fill_index, write_beyond, endless. */
extern const char test_kernels[];
fusion_module *load_test_kernels(fusion_session *session);
/* An i32 buffer holding factor * index. */
fusion_buffer *index_buffer(fusion_session *session, const char *name, uint64_t count, int factor, unsigned properties);
/* One node over count work-items. */
fusion_node add_node(fusion_graph *graph, fusion_module *module, const char *kernel, uint64_t count,
                     const fusion_arg *args, uint32_t n_args);
