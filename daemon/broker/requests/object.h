/* Compiled code on its way to executors: memory with a descriptor, sealed so that nobody changes it. */
#pragma once

#include <stddef.h>

/* The descriptor, or -1 with errno. */
int object_seal(const void *bytes, size_t size);
