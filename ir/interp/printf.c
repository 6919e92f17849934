/* printf and findings: format, arguments and strings are read as all memory is. */
#include "ir/interp/printf.h"

#include <stdlib.h>
#include <string.h>

#include "ir/interp/frame.h"
#include "ir/interp/memory.h"
#include "ir/interp/memory_access.h"
#include "ir/printf/format.h"
#include "ir/printf/printer.h"

struct reading {
    struct machine *m;
    struct item *item;
    const struct code_inst *at;
};

/* Up to its end, `most` bytes, or what cannot be read. */
static void add_string(void *data, uint64_t address, uint64_t most, struct strbuf *to)
{
    const struct reading *r = data;
    const struct allocation *memory = interp_memory_find(&r->m->memory, address);
    struct access a = {address, 1, memory ? memory->space : IR_SPACE_GENERIC, 1, ACCESS_READ, NULL};
    const uint8_t *byte;
    for (; most-- && (byte = interp_memory_access(r->m, r->item, r->at, &a)) && *byte; a.address++)
        strbuf_add_bytes(to, (const char *)byte, 1);
}

static bool print_message(const struct reading *r)
{
    const struct ir_inst *inst = r->at->ir;
    uint64_t size = ir_type_size(r->m->module, inst->type);
    struct access a = {interp_item_operand(r->item, 2)[0],
                       size,
                       ir_type_space(inst->operands[2]->type),
                       ir_type_align(r->m->module, inst->type),
                       ACCESS_READ | ACCESS_COPY,
                       NULL};
    const uint8_t *args = interp_memory_access(r->m, r->item, r->at, &a);
    if (!args) return false;
    struct strbuf format = {0}, text = {0};
    add_string((void *)r, interp_item_operand(r->item, 1)[0], IR_FORMAT_MAX, &format);
    ir_format(&text, format.text ? format.text : "", args, size, add_string, (void *)r);
    bool kept = ir_printer_add(r->m->options.printer, interp_item_operand(r->item, 0)[0], text.text ? text.text : "",
                               text.size);
    free(format.text);
    free(text.text);
    return kept;
}

static void tell_finding(const struct reading *r)
{
    struct strbuf site = {0};
    add_string((void *)r, interp_item_operand(r->item, 1)[0], IR_FORMAT_MAX, &site);
    ir_printer_find(r->m->options.printer, interp_item_operand(r->item, 0)[0], site.text ? site.text : "",
                    (int64_t)interp_item_operand(r->item, 2)[0]);
    free(site.text);
}

bool interp_printf_exec(struct machine *m, struct item *item, const struct code_inst *at, uint64_t *r)
{
    if (at->ir->op == IR_OP_FINDING) {
        tell_finding(&(struct reading){m, item, at});
        return true;
    }
    if (at->ir->op != IR_OP_PRINTF) return false;
    *r = print_message(&(struct reading){m, item, at}) ? 0 : UINT32_MAX;
    return true;
}
