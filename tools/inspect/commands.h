/* The commands of fusion-inspect. Each gets its own arguments (argv[0] is the command) and returns the exit status. */
#pragma once

#include "tools/inspect/connect.h"

int command_devices(const struct context *c, int argc, char **argv);
int command_status(const struct context *c, int argc, char **argv);
int command_metrics(const struct context *c, int argc, char **argv);
int command_top(const struct context *c, int argc, char **argv);
int command_module(const struct context *c, int argc, char **argv);
int command_pipes(const struct context *c, int argc, char **argv);
int command_run(const struct context *c, int argc, char **argv);
int command_passes(const struct context *c, int argc, char **argv);
int command_compile(const struct context *c, int argc, char **argv);
int command_bundle(const struct context *c, int argc, char **argv);
int command_tune(const struct context *c, int argc, char **argv);
int command_explain(const struct context *c, int argc, char **argv);
