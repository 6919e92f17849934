/* Constants and undefined values; what is known of a value. */
#pragma once

#include "ir/core/objects.h"

struct ir_value *ir_const(struct ir_module *m, ir_type t, const uint64_t *lanes); /* copies */
struct ir_value *ir_const_int(struct ir_module *m, ir_type t, uint64_t v); /* same in each lane; cut to the width */
struct ir_value *ir_const_float(struct ir_module *m, ir_type t, double v); /* rounded to t, same in each lane */
struct ir_value *ir_const_bool(struct ir_module *m, bool v);
struct ir_value *ir_undef(struct ir_module *m, ir_type t);
/* A scalar integer or bool constant's value, zero-extended. */
bool ir_value_uint(const struct ir_value *v, uint64_t *out);
bool ir_value_same(const struct ir_value *a, const struct ir_value *b); /* same object, or equal constants */
