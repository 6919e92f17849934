/* Types: what their number says. */
#include "ir/core/type.h"

unsigned ir_type_bits(ir_type t)
{
    switch (ir_type_kind(t)) {
    case IR_KIND_BOOL: return 1;
    case IR_KIND_I8: return 8;
    case IR_KIND_I16:
    case IR_KIND_F16: return 16;
    case IR_KIND_I32:
    case IR_KIND_F32: return 32;
    case IR_KIND_I64:
    case IR_KIND_F64:
    case IR_KIND_PTR: return 64;
    default: return 0;
    }
}
