/* The table of operations (ops.def) as an array, and the search for a mnemonic in it. */
#include "ir/core/ops.h"

#include <string.h>

#include "ir/core/aspects.h"

static const struct {
    struct ir_op_info info;
    const char *flags;
} table[] = {
#define OP(id, text, class, tclass, operands, result, attrs, flags, aspects, doc)                                      \
    [IR_OP_##id] = {{text, IR_CLASS_##class, tclass, operands, result, attrs, 0, aspects, doc}, flags},
#include "ir/core/ops.def"
#undef OP
};

static struct ir_op_info infos[IR_OP_COUNT];
static unsigned short by_text[IR_OP_COUNT]; /* ops in the order of their mnemonics */

static unsigned flags_from_letters(const char *letters)
{
    static const char order[] = "PRWCXZDUAG"; /* bit k of enum ir_op_flag */
    unsigned flags = 0;
    for (; *letters; letters++) flags |= 1u << (strchr(order, *letters) - order);
    return flags;
}

/* Filled in before main(), so that any thread may read it without a lock. */
__attribute__((constructor)) static void fill(void)
{
    for (unsigned i = 0; i < IR_OP_COUNT; i++) {
        infos[i] = table[i].info;
        infos[i].flags = flags_from_letters(table[i].flags);
        unsigned at = i;
        for (; at && strcmp(infos[by_text[at - 1]].text, infos[i].text) > 0; at--) by_text[at] = by_text[at - 1];
        by_text[at] = (unsigned short)i;
    }
}

const struct ir_op_info *ir_op_info(enum ir_op op)
{
    return &infos[op];
}

enum ir_op_class ir_op_class(enum ir_op op)
{
    return infos[op].op_class;
}

bool ir_op_is_function(enum ir_op op)
{
    return infos[op].op_class == IR_CLASS_MATH && op != IR_OP_MAD && op != IR_OP_FMA;
}

enum ir_op ir_op_find(const char *text)
{
    unsigned low = 0, high = IR_OP_COUNT;
    while (low < high) {
        unsigned middle = (low + high) / 2;
        int order = strcmp(text, infos[by_text[middle]].text);
        if (order == 0) return (enum ir_op)by_text[middle];
        if (order < 0) {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    return IR_OP_COUNT;
}
