/* The commands of fusion-inspect. Each gets its own arguments (argv[0] is the command) and returns the exit status. */
#pragma once

#include <fusiond/fusiond.h>

struct context {
    const char *socket; /* NULL: fusion_connect's rule */
    bool private_daemon;
};

int command_devices(const struct context *c, int argc, char **argv);
int command_status(const struct context *c, int argc, char **argv);
int command_module(const struct context *c, int argc, char **argv);
int command_run(const struct context *c, int argc, char **argv);
int command_passes(const struct context *c, int argc, char **argv);
int command_explain(const struct context *c, int argc, char **argv);

/* A session, or NULL with a message. */
fusion_session *connect_or_say(const struct context *c);
