/* printf for compiled kernels: addresses are those of the process. */
#include "fuser/cpu/runtime/print.h"

#include <stdlib.h>
#include <string.h>

#include "ir/printf/format.h"
#include "ir/printf/printer.h"

static void add_string(void *data, uint64_t address, uint64_t most, struct strbuf *to)
{
    (void)data;
    const char *text = (const char *)(uintptr_t)address;
    strbuf_add_bytes(to, text, strnlen(text, most));
}

int32_t kernel_print(struct ir_printer *printer, uint64_t item, const char *format, uint64_t size, const void *args)
{
    struct strbuf text = {0};
    if (!printer || !format) return -1;
    ir_format(&text, format, args, size, add_string, NULL);
    bool kept = ir_printer_add(printer, item, text.text ? text.text : "", text.size);
    free(text.text);
    return kept ? 0 : -1;
}

void kernel_finding(struct ir_printer *printer, uint64_t place, const char *site, int64_t offset)
{
    ir_printer_find(printer, place, site, offset);
}
