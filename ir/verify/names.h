/* Names of the module. */
#pragma once

#include "ir/verify/verifier.h"

/* A name people can write: a letter or _, then letters, digits, _ . $ */
bool verify_name_ok(const char *name);
/* Reports each name that occurs twice. NULL entries are left out; the order of names changes. */
void verify_unique(struct verifier *v, const char **names, size_t n, const char *what);
