/* The printer's part for types and the literals of numbers. */
#include "ir/text/print/print_type.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "ir/text/number.h"
#include "ir/text/words.h"

void ir_print_type_to(struct strbuf *b, const struct ir_module *m, ir_type t)
{
    unsigned closing = 0;
    const struct ir_array *a;
    while ((a = m ? ir_type_array(m, t) : NULL) && closing < 2 * 64) {
        strbuf_printf(b, "[%" PRIu64 " x ", a->count);
        t = a->element;
        closing++;
    }
    enum ir_kind kind = ir_type_kind(t);
    const struct ir_struct *s = m ? ir_type_struct(m, t) : NULL;
    uint32_t detail = ir_type_detail(t);
    if (s) {
        strbuf_printf(b, "struct %s", s->name ? s->name : "?");
    } else if (kind == IR_KIND_PTR) {
        strbuf_printf(b, "ptr.%s", detail < IR_SPACE_COUNT ? ir_space_words[detail] : "?");
    } else if (kind == IR_KIND_IMAGE || kind == IR_KIND_PIPE) {
        unsigned access = ir_type_handle_access(t) + 1, form = ir_type_image_form(t);
        const char *image = form < IR_IMAGE_FORM_COUNT ? ir_image_words[form] : "image?";
        strbuf_printf(b, "%s.%s", kind == IR_KIND_PIPE ? "pipe" : image,
                      access < IR_ACCESS_COUNT ? ir_access_words[access] : "?");
    } else if (kind < IR_KIND_COUNT && ir_scalar_words[kind]) {
        strbuf_add(b, ir_scalar_words[kind]);
        if (ir_type_lanes(t) != 1) strbuf_printf(b, "x%u", ir_type_lanes(t));
    } else {
        strbuf_printf(b, "?%#x", t);
    }
    while (closing--) strbuf_add(b, "]");
}

const char *ir_print_type(const struct ir_module *m, ir_type t, char *buf, size_t size)
{
    struct strbuf b = {0};
    ir_print_type_to(&b, m, t);
    char *text = strbuf_take(&b);
    if (size) snprintf(buf, size, "%s", text);
    free(text);
    return buf;
}

static bool all_lanes_equal(const uint64_t *lanes, unsigned n)
{
    for (unsigned i = 1; i < n; i++)
        if (lanes[i] != lanes[0]) return false;
    return true;
}

void ir_print_lanes(struct strbuf *b, ir_type t, const uint64_t *lanes)
{
    char text[IR_NUMBER_TEXT];
    unsigned n = ir_type_lanes(t);
    if (all_lanes_equal(lanes, n)) {
        ir_number_format(ir_type_kind(t), lanes[0], text);
        strbuf_add(b, text);
        return;
    }
    for (unsigned i = 0; i < n; i++) {
        ir_number_format(ir_type_kind(t), lanes[i], text);
        strbuf_printf(b, "%s%s", i ? ", " : "<", text);
    }
    strbuf_add(b, ">");
}
