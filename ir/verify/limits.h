/* Limits of the language, so that whatever walks a valid module may recurse. */
#pragma once

#include <stdint.h>

enum {
    IR_MAX_BLOCK_DEPTH = 256, /* blocks inside each other, the body included */
    IR_MAX_TYPE_DEPTH = 64,   /* structs and arrays inside each other */
    IR_MAX_CALL_DEPTH = 256,  /* functions that call each other in a row */
};
#define IR_MAX_TYPE_SIZE ((uint64_t)1 << 48) /* sizes of types are below it */
