/* What can be relied on of a type, once verify_types() has run. */
#pragma once

#include "ir/verify/verifier.h"

/* The number is a type of the module. */
bool verify_type_ok(const struct verifier *v, ir_type t);
/* The type can lie in memory, and its size is known. */
bool verify_type_memory(const struct verifier *v, ir_type t);
/* A type as text; good until three more were asked for. */
const char *verify_type_text(struct verifier *v, ir_type t);
