/* Where the executable of a private daemon is. */
#pragma once

#include <limits.h>

void client_locate_daemon(char path[PATH_MAX]);
