/* Types of values, which kernels know by name. */
#include "client/base/value_type.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "client/base/error.h"

static const char *const words[] = {
    [FUSION_BYTES] = "bytes", [FUSION_I8] = "i8",   [FUSION_I16] = "i16", [FUSION_I32] = "i32",
    [FUSION_I64] = "i64",     [FUSION_U8] = "u8",   [FUSION_U16] = "u16", [FUSION_U32] = "u32",
    [FUSION_U64] = "u64",     [FUSION_F16] = "f16", [FUSION_F32] = "f32", [FUSION_F64] = "f64"};

/* Kernels do not tell signed numbers from others: only operations do. */
static fusion_type without_sign(fusion_type t)
{
    return t >= FUSION_U8 && t <= FUSION_U64 ? t - FUSION_U8 + FUSION_I8 : t;
}

const char *client_value_text(struct client_value_type t, char text[CLIENT_VALUE_TEXT])
{
    snprintf(text, CLIENT_VALUE_TEXT, t.lanes > 1 ? "%sx%" PRIu32 : "%s", words[t.element], t.lanes);
    return text;
}

struct client_value_type client_value_type_of(const char *name)
{
    struct client_value_type none = {FUSION_BYTES, 0};
    if (strcmp(name, "bool") == 0) return (struct client_value_type){FUSION_I8, 1};
    for (fusion_type t = FUSION_I8; t <= FUSION_F64; t++) {
        size_t n = strlen(words[t]);
        if (strncmp(name, words[t], n) != 0) continue;
        if (!name[n]) return (struct client_value_type){t, 1};
        uint32_t lanes = name[n] == 'x' ? (uint32_t)strtoul(name + n + 1, NULL, 10) : 0;
        return lanes ? (struct client_value_type){t, lanes} : none;
    }
    return none;
}

bool client_value_type_is(struct client_value_type a, struct client_value_type b)
{
    return without_sign(a.element) == without_sign(b.element) && a.lanes == b.lanes;
}

fusion_status client_value_check(const char *object, const char *name, struct client_value_type parameter,
                                 struct client_value_type given)
{
    char text[CLIENT_VALUE_TEXT];
    if ((unsigned)given.element >= sizeof words / sizeof *words)
        return client_error(FUSION_INVALID, object, "unknown type of a value: %d", (int)given.element);
    if (given.element == FUSION_BYTES || client_value_type_is(parameter, given)) return FUSION_SUCCESS;
    return client_error(FUSION_INVALID, object, "it is of type %s, but the value given is of type %s", name,
                        client_value_text(given, text));
}
