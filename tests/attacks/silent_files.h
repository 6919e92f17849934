/* A file system whose one file, "file", can be opened by everybody, and of which nobody learns that it was closed: as a
   FUSE server that a user may have, and that stops to answer. */
#pragma once

#include <sys/types.h>

/* Mounts it there, with a process that serves it; its number, or 0 where this machine does not let us (errno). */
pid_t silent_files_mount(const char *folder);
/* Ends the process: who waits for the file system goes on. Fine with 0. */
void silent_files_end(const char *folder, pid_t server);
