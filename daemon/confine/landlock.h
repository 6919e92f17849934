/* Landlock: which files a process may still reach, whom it may signal and connect to. Works without privileges. */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* Rights on a file, or on everything below a folder. */
enum landlock_right {
    LANDLOCK_RIGHT_READ,    /* read files, list folders */
    LANDLOCK_RIGHT_EXECUTE, /* read and execute */
    LANDLOCK_RIGHT_WRITE,   /* read, write, make, remove */
    LANDLOCK_RIGHT_DEVICE,  /* read, write and command */
};

struct landlock_path {
    const char *path; /* one that does not exist gives nothing */
    enum landlock_right right;
};

/* The kernel's version of it; 0: it has none, or it is switched off. */
int landlock_abi(void);
/* A rule set with these paths: every other right on files, TCP, signals to and abstract sockets of processes outside
   are refused, as far as the kernel knows them. A descriptor; -1 with errno. */
int landlock_make(const struct landlock_path *paths, size_t n);
/* Enters it for good, with all that is started later; the calling thread must be the only one and have no_new_privs.
   The descriptor stays the caller's. 0, or -1 with errno. */
int landlock_enter(int rules);
