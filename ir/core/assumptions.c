/* Names of assumptions. */
#include "ir/core/assumptions.h"

#include <stddef.h>

static const char *const names[] = {
#define X(id, text) text,
    IR_ASSUMPTIONS(X)
#undef X
};

const char *ir_assumption_name(unsigned bit)
{
    return bit < IR_ASSUME_COUNT ? names[bit] : NULL;
}
