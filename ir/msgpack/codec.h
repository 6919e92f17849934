/* The msgpack form: compact, exact, for messages and for cache keys. docs/ir.md gives its schema. */
#pragma once

#include "ir/base/diag.h"
#include "ir/core/ir.h"

enum { IR_CODEC_VERSION = 1 };

/* A valid module as bytes, to be freed by the caller. Equal modules give equal bytes. */
uint8_t *ir_encode(const struct ir_module *m, size_t *size);
/* The same without the names of the module, of kernels and of values and without locations: what a content
   address is computed from. */
uint8_t *ir_encode_anonymous(const struct ir_module *m, size_t *size);
/* Never trusts its input; memory used stays below 64 bytes per input byte plus 64 kB. The result has
   passed ir_verify(). NULL on any error. */
struct ir_module *ir_decode(const uint8_t *bytes, size_t size, struct diag_list *list);
