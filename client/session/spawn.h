/* Starting a program as a fresh login would: with the environment, the user and the limits of this process, but not
   with what it made for itself: signal mask, ignored signals, other descriptors, real-time priority, process group. */
#pragma once

#include <stdint.h>
#include <sys/types.h>

enum { CLIENT_SPAWN_NULL = -1, CLIENT_SPAWN_INHERIT = -2, CLIENT_SPAWN_MAX_FDS = 4 };

/* Descriptor i of the program is fds[i] of this process, /dev/null, or (of 0 to 2) what this one has, /dev/null where
   it has none. Returns 0 or an errno. */
int client_spawn(const char *path, char *const argv[], const int *fds, uint32_t n_fds, pid_t *pid);
