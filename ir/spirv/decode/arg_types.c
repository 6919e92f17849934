/* Types of kernel arguments as their source named them: translators of compilers whose pointers point at nothing in
 * particular keep them in strings, "kernel_arg_type.NAME.float4*,int,". */
#include "ir/spirv/decode/arg_types.h"

#include <stdlib.h>
#include <string.h>

#include "ir/spirv/decode/ids.h"

static const struct {
    const char *name;
    enum ir_kind kind;
} scalars[] = {
    {"char", IR_KIND_I8},  {"uchar", IR_KIND_I8},  {"short", IR_KIND_I16},  {"ushort", IR_KIND_I16},
    {"int", IR_KIND_I32},  {"uint", IR_KIND_I32},  {"long", IR_KIND_I64},   {"ulong", IR_KIND_I64},
    {"half", IR_KIND_F16}, {"float", IR_KIND_F32}, {"double", IR_KIND_F64},
};

/* "float4*" as f32x4; IR_VOID: no pointer to a number or a vector. */
static ir_type pointee_type(const char *text, size_t n)
{
    if (n < 2 || text[n - 1] != '*') return IR_VOID;
    for (size_t k = 0; k < sizeof scalars / sizeof *scalars; k++) {
        size_t length = strlen(scalars[k].name);
        if (n - 1 < length || strncmp(text, scalars[k].name, length) != 0) continue;
        char *end;
        unsigned long lanes = n - 1 == length ? 1 : strtoul(text + length, &end, 10);
        if (n - 1 != length && end != text + n - 1) continue;
        if (lanes == 1 || lanes == 2 || lanes == 3 || lanes == 4 || lanes == 8 || lanes == 16)
            return IR_TYPE(scalars[k].kind, lanes, 0);
    }
    return IR_VOID;
}

/* The list of the kernel's types, or NULL. */
static const char *find_list(const struct spirv_reader *r, const char *kernel)
{
    static const char prefix[] = "kernel_arg_type.";
    size_t n = strlen(kernel);
    for (size_t k = 0; k < r->index.n_strings; k++) {
        const char *s = spirv_string(r->index.strings[k]->words + 2);
        if (strncmp(s, prefix, sizeof prefix - 1) != 0) continue;
        s += sizeof prefix - 1;
        if (strncmp(s, kernel, n) == 0 && s[n] == '.') return s + n + 1;
    }
    return NULL;
}

void spirv_read_arg_types(struct spirv_reader *r, const char *kernel, struct ir_function *f)
{
    const char *at = find_list(r, kernel);
    for (uint32_t k = 0; at && *at && k < f->n_params; k++) {
        size_t n = strcspn(at, ",");
        struct ir_param *p = &f->params[k];
        ir_type t = pointee_type(at, n);
        if (t != IR_VOID && ir_type_is_ptr(p->value->type) && !p->by_value && (p->elem == IR_I8 || p->elem == IR_VOID))
            p->elem = t;
        at += n + (at[n] == ',');
    }
}
