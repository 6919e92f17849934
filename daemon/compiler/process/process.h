/* The compiler as a process: limits, and where it leaves files. */
#pragma once

#include <stdbool.h>

/* Limits, descriptors, a temporary folder of its own. 0, or -1 with a message on stderr. */
int process_enter(void);
/* Removes the temporary folder. */
void process_leave(void);
const char *process_folder(void);
/* A new file in it; a descriptor, or -1. */
int process_open_file(const char *name);
/* Removes what lies in it: true where it is empty then. */
bool process_clean(void);
