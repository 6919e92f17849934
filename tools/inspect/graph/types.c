/* Element types and numbers of graph files. */
#include "tools/inspect/graph/types.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "ir/base/nearest.h"

static const struct {
    const char *name;
    unsigned bytes;
} types[] = {
    [FUSION_BYTES] = {"bytes", 1}, [FUSION_I8] = {"i8", 1},   [FUSION_I16] = {"i16", 2}, [FUSION_I32] = {"i32", 4},
    [FUSION_I64] = {"i64", 8},     [FUSION_U8] = {"u8", 1},   [FUSION_U16] = {"u16", 2}, [FUSION_U32] = {"u32", 4},
    [FUSION_U64] = {"u64", 8},     [FUSION_F16] = {"f16", 2}, [FUSION_F32] = {"f32", 4}, [FUSION_F64] = {"f64", 8},
};

const char *type_name(fusion_type type)
{
    return types[type].name;
}

unsigned type_bytes(fusion_type type)
{
    return types[type].bytes;
}

bool type_parse(const char *name, fusion_type *type)
{
    for (unsigned i = 0; i < sizeof types / sizeof *types; i++) {
        if (strcmp(types[i].name, name)) continue;
        *type = (fusion_type)i;
        return true;
    }
    return false;
}

const char *type_nearest(const char *name)
{
    struct nearest s = nearest_begin(name, strlen(name));
    for (unsigned i = 0; i < sizeof types / sizeof *types; i++) nearest_offer(&s, types[i].name);
    return s.best;
}

/* Round to nearest even, through the bits of a double that has at most one rounding before. */
static uint16_t half_from_double(double value)
{
    uint16_t sign = signbit(value) ? 0x8000 : 0;
    double a = fabs(value);
    if (isnan(value)) return sign | 0x7e00;
    if (a >= 65520.0) return sign | 0x7c00;
    if (a < 0x1p-14) return sign | (uint16_t)nearbyint(a * 0x1p24);
    int exponent;
    double mantissa = frexp(a, &exponent);               /* [0.5, 1) */
    uint32_t m = (uint32_t)nearbyint(mantissa * 0x1p11); /* [1024, 2048] */
    return (uint16_t)(sign + ((uint32_t)(exponent + 13) << 10) + m);
}

static bool parse_float(const char *text, const char *type, void *value, unsigned *bytes)
{
    char *end;
    double d = strtod(text, &end);
    if (end == text || *end) return false;
    if (strcmp(type, "f64") == 0) {
        memcpy(value, &d, *bytes = 8);
    } else if (strcmp(type, "f32") == 0) {
        float f = strtof(text, NULL); /* one rounding, from the text */
        memcpy(value, &f, *bytes = 4);
    } else {
        uint16_t h = half_from_double(d);
        memcpy(value, &h, *bytes = 2);
    }
    return true;
}

static bool parse_integer(const char *text, unsigned width, void *value)
{
    char *end;
    errno = 0;
    int64_t v = text[0] == '-' ? strtoll(text, &end, 0) : (int64_t)strtoull(text, &end, 0);
    if (end == text || *end || errno) return false;
    unsigned bits = width * 8;
    bool negative = text[0] == '-';
    if (bits < 64 && (negative ? v < -(INT64_C(1) << (bits - 1)) : (uint64_t)v >> bits != 0)) return false;
    memcpy(value, &v, width); /* little endian */
    return true;
}

bool constant_parse(const char *text, fusion_constant *constant)
{
    const char *space = strchr(text, ' ');
    char type[8], *value = calloc(1, 8);
    unsigned bytes = 0;
    size_t n = space ? (size_t)(space - text) : sizeof type;
    bool good = value && n < sizeof type;
    if (good) {
        memcpy(type, text, n);
        type[n] = 0;
        good = strcmp(type, "bytes") != 0 && number_parse(space + strspn(space, " "), type, value, &bytes);
    }
    if (good)
        *constant = (fusion_constant){.id = constant->id, .bytes = bytes, .value = value};
    else
        free(value);
    return good;
}

bool number_parse(const char *text, const char *type, void *value, unsigned *bytes)
{
    if (strcmp(type, "bool") == 0) {
        uint8_t b = strcmp(text, "true") == 0;
        if (!b && strcmp(text, "false")) return false;
        memcpy(value, &b, *bytes = 1);
        return true;
    }
    fusion_type t;
    if (!type_parse(type, &t)) return false;
    if (type[0] == 'f') return parse_float(text, type, value, bytes);
    *bytes = type_bytes(t);
    return parse_integer(text, *bytes, value);
}
