/* Findings of the verifier, with their place. */
#pragma once

#include "ir/verify/verifier.h"

/* Adds a finding at the place where the verifier stands. */
void verify_report(struct verifier *v, const char *format, ...) __attribute__((format(printf, 2, 3)));
