/* Records become messages. */
#include "daemon/executor/devices/gpu/prints.h"

#include <stdlib.h>
#include <string.h>

#include "ir/printf/format.h"

enum { WORD = 8, ROOM = (GPU_PRINT_BYTES - sizeof(struct spirv_prints)) / WORD };

void gpu_prints_open(struct spirv_prints *p)
{
    *p = (struct spirv_prints){.end = ROOM, .room = ROOM};
}

struct record {
    const uint8_t *bytes;
    size_t size;
};

/* At most so many bytes, and no more than the record has. */
static void add_string(void *data, uint64_t address, uint64_t most, struct strbuf *to)
{
    const struct record *r = data;
    if (address >= r->size) return;
    uint64_t left = r->size - address;
    const char *text = (const char *)r->bytes + address;
    strbuf_add_bytes(to, text, strnlen(text, left < most ? left : most));
}

static void add_finding(const struct record *r, const struct spirv_print *head, struct ir_printer *printer)
{
    int64_t offset;
    size_t before = sizeof *head + sizeof offset;
    if (r->size <= before || !memchr(r->bytes + before, 0, r->size - before)) return;
    memcpy(&offset, r->bytes + sizeof *head, sizeof offset);
    ir_printer_find(printer, head->item, (const char *)r->bytes + before, offset);
}

static void add_message(struct record *r, struct ir_printer *printer)
{
    struct spirv_print head;
    memcpy(&head, r->bytes, sizeof head);
    const uint8_t *args = r->bytes + sizeof head;
    if (head.args_bytes == SPIRV_PRINT_FINDING) {
        add_finding(r, &head, printer);
        return;
    }
    if (head.args_bytes > r->size - sizeof head) return;
    const char *format = (const char *)args + head.args_bytes;
    if (!memchr(format, 0, r->size - sizeof head - head.args_bytes)) return;
    struct strbuf text = {0};
    ir_format(&text, format, args, head.args_bytes, add_string, r);
    ir_printer_add(printer, head.item, text.text ? text.text : "", text.size);
    free(text.text);
}

void gpu_prints_take(const struct spirv_prints *p, struct ir_printer *printer)
{
    uint32_t end = p->used < p->end ? p->used : p->end;
    if (end > ROOM) end = ROOM;
    for (uint32_t at = 0; at < end;) {
        struct record r = {(const uint8_t *)&p->records[at], 0};
        uint32_t words = ((const struct spirv_print *)r.bytes)->words;
        if (words < sizeof(struct spirv_print) / WORD || words > end - at) break;
        r.size = (size_t)words * WORD;
        add_message(&r, printer);
        at += words;
    }
    if (p->lost) ir_printer_find_unknown(printer);
    ir_printer_drop(printer, p->dropped - p->lost);
    ir_printer_end_launch(printer);
}
