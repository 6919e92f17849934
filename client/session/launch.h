/* Starting a private daemon. */
#pragma once

#include <fusiond/fusiond.h>
#include <sys/types.h>

/* *fd is its connection. */
fusion_status client_launch_daemon(int *fd, pid_t *pid);
