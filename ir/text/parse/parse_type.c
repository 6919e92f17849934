/* The parser's part for types and for the literals of number types. */
#include "ir/text/parse/parse_type.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "ir/base/arena.h"
#include "ir/base/nearest.h"
#include "ir/text/number.h"
#include "ir/text/parse/parse_basic.h"
#include "ir/text/print/print_type.h"
#include "ir/text/words.h"
#include "ir/verify/limits.h"

/* f32x4, ptr.global, image2d.read ...: all types that are one word. */
static bool word_type(const struct token *t, ir_type *out)
{
    static const unsigned lanes[] = {2, 3, 4, 8, 16};
    char text[32];
    if (t->kind != TOKEN_WORD || t->n >= sizeof text) return false;
    memcpy(text, t->text, t->n);
    text[t->n] = 0;

    unsigned n = 1;
    char *x = strchr(text, 'x');
    for (unsigned i = 0; x && i < sizeof lanes / sizeof *lanes; i++)
        if (x[1] != '0' && x[1] && strspn(x + 1, "0123456789") == strlen(x + 1) && (unsigned)atoi(x + 1) == lanes[i])
            n = lanes[i];
    if (n > 1) *x = 0;
    for (unsigned kind = 0; kind < IR_KIND_COUNT; kind++) {
        if (!ir_scalar_words[kind] || strcmp(text, ir_scalar_words[kind]) != 0) continue;
        *out = IR_TYPE(kind, n, 0);
        return n == 1 || ir_type_is_number(*out);
    }
    if (n > 1) return false;
    char *dot = strchr(text, '.');
    if (!dot) return false;
    *dot = 0;
    const struct token detail = {.kind = TOKEN_WORD, .text = dot + 1, .n = strlen(dot + 1)};
    int space = parse_find_word(&detail, ir_space_words, IR_SPACE_COUNT);
    int access = parse_find_word(&detail, ir_access_words, IR_ACCESS_COUNT);
    const struct token name = {.kind = TOKEN_WORD, .text = text, .n = strlen(text)};
    int form = parse_find_word(&name, ir_image_words, IR_IMAGE_FORM_COUNT);
    if (strcmp(text, "ptr") == 0 && space >= 0) {
        *out = IR_PTR(space);
    } else if (form >= 0 && access >= 0) {
        *out = IR_IMAGE(form, access - 1);
    } else if (strcmp(text, "pipe") == 0 && access >= 0) {
        *out = IR_TYPE(IR_KIND_PIPE, 1, access - 1);
    } else {
        return false;
    }
    return true;
}

bool parse_starts_type(const struct token *t)
{
    ir_type ignored;
    return word_type(t, &ignored) || token_is(t, '[') || token_is_word(t, "struct");
}

static bool parse_struct_name(struct parser *p, ir_type *t)
{
    parse_advance(p);
    if (p->tok.kind != TOKEN_WORD) return parse_expected(p, "the name of a struct");
    uintptr_t index = (uintptr_t)names_get(&p->structs, p->tok.text, p->tok.n);
    if (!index && !p->heads_failed)
        return parse_error(p, &p->tok, "there is no struct %.*s above", (int)(p->tok.n < 60 ? p->tok.n : 60),
                           p->tok.text);
    if (!index) return false;
    *t = IR_TYPE(IR_KIND_STRUCT, 1, index - 1);
    parse_advance(p);
    return true;
}

/* The type that a word of the text is like, in the words of the text or in those of C. */
const char *parse_nearest_type(const struct token *t)
{
    static const char *const in_c[][2] = {
        {"char", "i8"},    {"short", "i16"},      {"int", "i32"},   {"long", "i64"},  {"uchar", "i8"},
        {"ushort", "i16"}, {"uint", "i32"},       {"ulong", "i64"}, {"u8", "i8"},     {"u16", "i16"},
        {"u32", "i32"},    {"u64", "i64"},        {"half", "f16"},  {"float", "f32"}, {"double", "f64"},
        {"size_t", "i64"}, {"ptr", "ptr.global"},
    };
    struct nearest s = nearest_begin(t->text, t->n);
    for (unsigned i = 0; i < sizeof in_c / sizeof *in_c; i++)
        if (token_is_word(t, in_c[i][0])) return in_c[i][1];
    for (unsigned kind = 0; kind < IR_KIND_COUNT; kind++) nearest_offer(&s, ir_scalar_words[kind]);
    return s.best;
}

static bool parse_type_inside(struct parser *p, unsigned depth, ir_type *t);

static bool parse_array(struct parser *p, unsigned depth, ir_type *t)
{
    struct token open = p->tok;
    uint64_t count;
    ir_type element;
    if (depth >= IR_MAX_TYPE_DEPTH)
        return parse_error(p, &open, "arrays are more than %d deep inside each other", IR_MAX_TYPE_DEPTH);
    parse_advance(p);
    if (!parse_uint(p, "a number of elements", INT64_MAX, &count) || !parse_word(p, "x")) return false;
    if (!parse_type_inside(p, depth + 1, &element) || !parse_punct(p, ']')) return false;
    *t = ir_array_type(p->m, element, count);
    if (p->m->n_arrays > IR_MAX_ARRAYS)
        return parse_error(p, &open, "there are more than %d different array types", IR_MAX_ARRAYS);
    return true;
}

static bool parse_type_inside(struct parser *p, unsigned depth, ir_type *t)
{
    if (token_is(&p->tok, '[')) return parse_array(p, depth, t);
    if (token_is_word(&p->tok, "struct")) return parse_struct_name(p, t);
    if (!word_type(&p->tok, t)) return parse_expected_like(p, "a type", parse_nearest_type(&p->tok));
    parse_advance(p);
    return true;
}

bool parse_type(struct parser *p, ir_type *t)
{
    return parse_type_inside(p, 0, t);
}

const char *parse_type_name(struct parser *p, ir_type t)
{
    char *text = arena_alloc(p->scratch, 80);
    return ir_print_type(p->m, t, text, 80);
}

static bool parse_lane(struct parser *p, ir_type t, uint64_t *bits)
{
    struct token *k = &p->tok;
    if (!token_is_number(k) && !token_is_word(k, "true") && !token_is_word(k, "false"))
        return parse_expected(p, "a number");
    const char *wrong = ir_number_parse(ir_type_kind(t), k->text, k->n, bits);
    if (wrong)
        return parse_error(p, k, "%.*s %s, %s", (int)(k->n < 60 ? k->n : 60), k->text, wrong,
                           parse_type_name(p, ir_type_element(t)));
    parse_advance(p);
    return true;
}

bool parse_lanes(struct parser *p, ir_type t, uint64_t *lanes)
{
    struct token first = p->tok;
    if (!ir_type_is_number(t)) return parse_error(p, &first, "a number cannot be of type %s", parse_type_name(p, t));
    if (!parse_if_punct(p, '<')) {
        if (!parse_lane(p, t, lanes)) return false;
        for (unsigned i = 1; i < ir_type_lanes(t); i++) lanes[i] = lanes[0];
        return true;
    }
    unsigned n = 0;
    do {
        if (n == ir_type_lanes(t))
            return parse_error(p, &first, "the vector has more than the %u lanes of its type", ir_type_lanes(t));
        if (!parse_lane(p, t, &lanes[n++])) return false;
    } while (parse_if_punct(p, ','));
    if (n < ir_type_lanes(t))
        return parse_error(p, &first, "the vector has %u of the %u lanes of its type", n, ir_type_lanes(t));
    return parse_punct(p, '>');
}
