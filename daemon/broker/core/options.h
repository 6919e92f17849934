/* What the daemon was told to do: command line, configuration file, environment, defaults. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "daemon/broker/core/user.h"

/* What the launches of a new handle run: what is ready sooner, the kernels themselves until there is code, or code. */
enum tier { TIER_AUTOMATIC, TIER_QUICK, TIER_COMPILED, TIERS };

struct options {
    char *socket;       /* path to listen on */
    gid_t socket_group; /* whose it is; (gid_t)-1: whoever starts the daemon decides */
    int socket_mode;    /* its permissions; -1: likewise */
    int private_fd;     /* serve only this connection; -1: listen */
    char *cache;        /* directory; NULL: none */
    char *metrics_file; /* written again and again; NULL: none */
    uint64_t cache_bytes;
    char *cache_server, *cache_key; /* the second level of the cache, and the file of its key; NULL: none */
    char *compiler, *executor;      /* executables */
    uint32_t compilers;             /* most at a time */
    uint64_t compiler_bytes;        /* a compiler that needs ten times as much is killed */
    uint32_t time_limit_ms, compile_limit_ms;
    uint32_t max_sessions, max_objects;
    uint64_t memory_bytes, buffer_bytes; /* of the daemon itself; of the memory that it and clients share */
    uint32_t max_time_limit_ms;          /* of a submission, whatever its client asks for */
    uint32_t frame_limit_ms;             /* how long a message may take to arrive */
    enum tier tier;                      /* of graphs whose client leaves the choice to us */
    bool without_landlock;               /* start as a service also where the kernel has none */
    bool foreground;
    char *config;           /* file; NULL: none was asked for */
    struct user_caps *caps; /* of the file */
    uint32_t n_caps;
    int argc; /* as they came: to be read again with the file */
    char **argv;
};

enum { OPTIONS_OWN_MEMORY_MB = 96 }; /* of memory_bytes: what the daemon needs besides what clients make it hold */
enum options_result { OPTIONS_RUN, OPTIONS_DONE, OPTIONS_WRONG };

/* Defaults, the configuration file, the command line. argv is kept. What is wrong is said on standard error. */
enum options_result options_parse(struct options *o, int argc, char **argv);
/* The same once more, as the file is now. 0, or -1 with the error. To be cleared in any case. */
int options_parse_again(struct options *o, const struct options *first, struct error *e);
void options_clear(struct options *o);
