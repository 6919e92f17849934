/*
 * Objects that somebody else made: are they of the form that our compilers give them? What their code does nobody can
 * tell, and it runs where a client's own kernels run, which could do the same. But loading them runs nothing of theirs,
 * needs no library but those that kernels call, and changes no memory but theirs.
 */
#pragma once

#include <stddef.h>

/* NULL, or what is wrong. Trusts nothing. */
const char *check_object(const void *bytes, size_t size);
