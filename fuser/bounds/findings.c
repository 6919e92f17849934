/* What a check tells: the words that the interpreter has for it. */
#include "fuser/bounds/findings.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ir/printf/finding.h"

uint64_t findings_bytes(const struct ir_inst *inst)
{
    bool is_flag = inst->op == IR_OP_ATOMIC_TEST_SET || inst->op == IR_OP_ATOMIC_CLEAR;
    return is_flag ? 4 : ir_type_size(inst->parent->function->module, inst->type);
}

static const char *access_text(const struct ir_inst *inst, unsigned operand, char *buf, size_t size)
{
    bool atomic = ir_op_class(inst->op) == IR_CLASS_ATOMIC, stores = inst->op == IR_OP_STORE;
    uint64_t count = 1, bytes = findings_bytes(inst);
    if (inst->op == IR_OP_COPY) stores = operand == 0;
    const char *verb = atomic ? "atomic access to" : stores ? "store of" : "load of";
    if (inst->op == IR_OP_COPY && !ir_value_uint(inst->operands[2], &count))
        snprintf(buf, size, "%s some times %" PRIu64 " bytes", verb, bytes);
    else
        snprintf(buf, size, "%s %" PRIu64 " bytes", verb, count * bytes);
    return buf;
}

/* A constant string of the module. */
static struct ir_value *string(struct ir_builder *b, const struct strbuf *text)
{
    struct ir_module *m = b->module;
    char name[32];
    unsigned i = 0;
    do snprintf(name, sizeof name, "site.%u", i++);
    while (ir_module_find_global(m, name));
    struct ir_global *g = ir_global_new(m, name, IR_SPACE_CONSTANT, ir_array_type(m, IR_I8, text->size + 1));
    uint8_t *init = ir_alloc(m, text->size + 1);
    memcpy(init, text->text, text->size);
    g->init = init;
    return ir_build_global(b, g);
}

static void tell_of(struct ir_builder *b, const struct bounds_root *root, const struct bounds_launch *launch,
                    const struct ir_inst *inst, unsigned operand, struct ir_value *offset)
{
    char object[320], place[340], access[64];
    struct strbuf text = {0};
    snprintf(object, sizeof object, "kernel %.250s", launch->name);
    if (inst->loc.line)
        snprintf(place, sizeof place, "%.250s, line %u", launch->name, inst->loc.line);
    else
        snprintf(place, sizeof place, "%.250s", launch->name);
    ir_site_write(&text, &(struct ir_site){.object = object,
                                           .place = place,
                                           .range = launch->range,
                                           .access = access_text(inst, operand, access, sizeof access),
                                           .element_bytes = findings_bytes(inst),
                                           .memory = root->text});
    struct ir_value *item = ir_build0(b, IR_OP_GLOBAL_LINEAR_ID, IR_VOID);
    struct ir_value *first = ir_const_int(b->module, IR_I64, (uint64_t)launch->number << IR_PLACE_ITEM_BITS);
    struct ir_value *operands[] = {launch->number ? ir_build2(b, IR_OP_ADD, IR_I64, item, first) : item,
                                   string(b, &text), offset};
    ir_build(b, IR_OP_FINDING, IR_VOID, operands, 3);
    free(text.text);
}

void findings_tell(struct ir_builder *b, struct places *places, const struct bounds_launch *launch,
                   const struct ir_inst *inst, unsigned operand)
{
    struct ir_value *pointer = inst->operands[operand], *offset = places_offset(places, pointer);
    int32_t root = places_root(places, pointer);
    if (root > 0) {
        tell_of(b, &places->roots[root], launch, inst, operand, offset);
        return;
    }
    struct ir_value *memory = places_memory(places, pointer);
    for (uint32_t i = 1; i < places->n_roots; i++) {
        struct ir_value *number = ir_const_int(b->module, IR_I32, i);
        struct ir_inst *is = ir_build_if(b, ir_build2(b, IR_OP_IEQ, IR_I32, memory, number), NULL, 0);
        struct ir_builder yes = ir_builder_at_end(is->blocks[0]), no = ir_builder_at_end(is->blocks[1]);
        yes.loc = b->loc;
        tell_of(&yes, &places->roots[i], launch, inst, operand, offset);
        ir_build(&yes, IR_OP_YIELD, IR_VOID, NULL, 0);
        ir_build(&no, IR_OP_YIELD, IR_VOID, NULL, 0);
    }
}
