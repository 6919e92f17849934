/* The printer's part for initial values of module-scope variables. */
#include <string.h>

#include "ir/text/print_internal.h"

/* Whether numbers in braces say all of the bytes: no padding, no pointers, no bool that is neither. */
static bool has_plain_form(const struct ir_module *m, ir_type t, uint64_t *leaf_bytes)
{
    const struct ir_array *a;
    const struct ir_struct *s;
    uint64_t inner = 0;
    if (!ir_type_size(m, t)) return false; /* so that there are never more parts than bytes */
    if ((a = ir_type_array(m, t))) {
        if (!has_plain_form(m, a->element, &inner)) return false;
        return !__builtin_mul_overflow(inner, a->count, leaf_bytes);
    }
    if ((s = ir_type_struct(m, t))) {
        *leaf_bytes = 0;
        for (uint32_t i = 0; i < s->n_fields; i++) {
            if (!has_plain_form(m, s->fields[i].type, &inner)) return false;
            *leaf_bytes += inner;
        }
        return *leaf_bytes == s->size;
    }
    *leaf_bytes = ir_type_size(m, t);
    return ir_type_is_number(t) && !ir_type_is_bool(t) && ir_type_lanes(t) != 3;
}

static void print_number(struct strbuf *b, ir_type t, const uint8_t *bytes)
{
    uint64_t lanes[IR_MAX_LANES] = {0};
    unsigned size = ir_type_bits(t) / 8;
    for (unsigned i = 0; i < ir_type_lanes(t); i++) memcpy(&lanes[i], bytes + i * size, size);
    ir_print_lanes(b, t, lanes);
}

static void print_plain(struct strbuf *b, const struct ir_module *m, ir_type t, const uint8_t *bytes)
{
    const struct ir_array *a = ir_type_array(m, t);
    const struct ir_struct *s = ir_type_struct(m, t);
    if (!a && !s) {
        print_number(b, t, bytes);
        return;
    }
    uint64_t n = a ? a->count : s->n_fields, stride = a ? ir_type_size(m, a->element) : 0;
    strbuf_add(b, "{");
    for (uint64_t i = 0; i < n; i++) {
        strbuf_add(b, i ? ", " : " ");
        if (a) {
            print_plain(b, m, a->element, bytes + i * stride);
        } else {
            print_plain(b, m, s->fields[i].type, bytes + s->fields[i].offset);
        }
    }
    strbuf_add(b, n ? " }" : "}");
}

void ir_print_init(struct strbuf *b, const struct ir_module *m, ir_type t, const uint8_t *bytes)
{
    uint64_t leaf_bytes;
    if (has_plain_form(m, t, &leaf_bytes)) {
        print_plain(b, m, t, bytes);
        return;
    }
    uint64_t size = ir_type_size(m, t);
    strbuf_add(b, "hex\"");
    for (uint64_t i = 0; i < size; i++) strbuf_printf(b, "%02x", bytes[i]);
    strbuf_add(b, "\"");
}
