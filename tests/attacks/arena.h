/*
 * Where the attack programs run: a daemon under an account of its own, attackers of a second user, and a victim of a
 * third one whose times are measured alone and under attack. All of it needs root, which can be any user.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "tests/support/service.h"

enum { DAEMON_UID = 65531, VICTIM_UID = 65532, ATTACKER_UID = 65533 };

/* An attacking process, which has the attackers' uid. */
struct attacker {
    const char *socket;
    unsigned number; /* 0, 1 ...: which of the attack's processes it is */
    int ready_fd;
};

struct attack {
    const char *name;
    unsigned processes;
    /* Calls attacker_ready when the attack has its full effect, and goes on with it. It is killed in the end; one
       that returns sleeps until then. */
    void (*run)(struct attacker *self);
    /* Fails the test where the daemon has not done what it does against the attack; in the arena's process, while the
       attack runs. NULL: the times say all. */
    void (*check)(void);
    /* Lets go what would keep the attackers from ending, before they are killed. NULL: nothing does. */
    void (*release)(void);
};

/* False, with a TAP plan that says why: the process cannot be other users. */
bool arena_possible(void);
/* For cmocka's group of tests. The daemon gets these options (NULL-terminated). */
void arena_start(const char *const *options);
void arena_stop(void);
struct service *arena_service(void);
/*
 * Measures the victim alone, starts the attackers, measures it again, tells both, and ends them. Fails the test unless
 * the victim was refused nothing and never waited as if the daemon were frozen, the daemon lives and answers, and its
 * memory has stayed under ARENA_MEMORY_MB. With FUSIOND_TEST_BOUNDS in the environment, for a machine that does nothing
 * else, also unless the 99th percentile of the victim's small submissions stays within three times what it is alone, or
 * a quarter of a millisecond, and its new finalize within four times as long as alone (each the best of many attempts).
 */
void arena_withstand(const struct attack *attack);
enum { ARENA_MEMORY_MB = 256 };

/* ---- for attackers ---- */

void attacker_ready(struct attacker *self);
/* A connection below the library; ends the process where there is none. -1 where the daemon refuses. */
int attacker_dial(const struct attacker *self);
/* The same after a hello whose reply has been read; -1 where the daemon closed it instead. */
int attacker_greet(const struct attacker *self);
/* A session of the library; NULL where the daemon refuses. */
fusion_session *attacker_session(const struct attacker *self);
/* Ends the attacking process as failed: an attack that does not happen is no test. */
_Noreturn void attacker_fail(const struct attacker *self, const char *what);

/* ---- between the arena and its victim (victim.c) ---- */

struct victim_times {
    double submit_p99_ms, finalize_ms; /* the median of several */
    double slowest_ms;                 /* of all that it has waited for */
    bool failed;
    char failure[400];
};

/* The victim's process: measures and writes its times to `out` for each byte that comes from `in`. */
_Noreturn void victim_run(const char *socket, int in, int out);
