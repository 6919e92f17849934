/* Binaries of drivers: what is told of them, and making one. */
#pragma once

#include "daemon/executor/program/executables.h"
#include "proto/writer.h"

/* The notice executable.binaries, of an executable that has just been loaded. False: there is nothing to tell. */
bool binaries_tell(struct executables *x, uint64_t executable, struct proto_writer *w);
/* The job of an executor that was started for it: one request, one answer. 0, or -1 where the connection ended. */
int binaries_make_one(int connection, const char *device);
