/*
 * Rewrites a module's words before they are validated: translators write what the specification does not allow, and
 * some of it would keep the validator busy for minutes or end its process. In come words of which nothing is known but
 * that they are there; out go words that the validator can be given. Uses ir/spirv/base alone.
 */
#pragma once

#include "ir/spirv/base/words.h"

/* False, with a finding: the module cannot be read. */
bool spirv_canonicalize(struct spirv_words *m);
