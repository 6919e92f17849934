/* The text form read: modules, structs, variables, heads of functions. Bodies are read after all heads,
   so that functions can call those below them. */
#include "ir/text/parse/parse.h"

#include <stdlib.h>
#include <string.h>

#include "ir/base/arena.h"
#include "ir/base/nearest.h"
#include "ir/core/pipe_properties.h"
#include "ir/text/number.h"
#include "ir/text/parse/parse_aspects.h"
#include "ir/text/parse/parse_basic.h"
#include "ir/text/parse/parse_body.h"
#include "ir/text/parse/parse_init.h"
#include "ir/text/parse/parse_operand.h"
#include "ir/text/parse/parse_type.h"
#include "ir/text/parse/parser.h"
#include "ir/text/words.h"
#include "ir/verify/verify.h"

/* A function whose head has been read up to its location. */
struct pending {
    struct ir_function *f;
    struct lexer lex; /* to come back to its location and body */
    struct token tok;
    uint32_t line, last_line;
    struct token *names; /* of the parameters */
};

enum { INIT_BYTES_PER_TEXT = 64, INIT_BYTES_FREE = 65536 };

static int shown_length(const struct token *t)
{
    return (int)(t->n < 60 ? t->n : 60);
}

/* Enters a declared name into a map; an error where it is taken. */
static bool declare_name(struct parser *p, struct names *map, const struct token *name, void *object)
{
    void **entry = names_put(map, name->text, name->n);
    if (*entry) return parse_error(p, name, "the name %.*s is taken already", shown_length(name), name->text);
    *entry = object;
    return true;
}

static bool parse_uint32(struct parser *p, const char *what, uint32_t *out)
{
    uint64_t n = 0;
    bool good = parse_uint(p, what, UINT32_MAX, &n);
    *out = (uint32_t)n;
    return good;
}

/* ---- structs ---- */

struct field_draft {
    struct ir_field field;
    bool has_offset;
    struct token first;
};

static bool parse_field_draft(struct parser *p, struct field_draft *d)
{
    d->first = p->tok;
    struct lexer back = p->lex;
    uint32_t last_line = p->last_line;
    if (p->tok.kind == TOKEN_WORD) { /* a name, or a type without one */
        parse_advance(p);
        if (parse_if_punct(p, ':')) {
            d->field.name = parse_copy(p, &d->first);
        } else {
            p->lex = back;
            p->tok = d->first;
            p->last_line = last_line;
        }
    }
    if (!parse_type(p, &d->field.type)) return false;
    d->has_offset = parse_if_punct(p, '@');
    return !d->has_offset || parse_uint32(p, "an offset", &d->field.offset);
}

static bool parse_fields(struct parser *p, struct parser_list *fields)
{
    if (!parse_punct(p, '{')) return false;
    while (!token_is(&p->tok, '}')) {
        struct field_draft *d = arena_alloc(p->scratch, sizeof *d);
        if (!parse_field_draft(p, d)) return false;
        parse_push(fields, d);
        const struct field_draft *first = fields->items[0];
        if (d->has_offset != first->has_offset)
            return parse_error(p, &d->first, "either all fields have offsets or none has");
        if (!parse_if_punct(p, ',')) break;
    }
    return parse_punct(p, '}');
}

/* Natural layout gives what the text leaves open. */
static bool lay_out(struct parser *p, struct ir_struct *s, const struct parser_list *fields)
{
    const struct field_draft *first = fields->n ? fields->items[0] : NULL;
    for (size_t i = 0; i < fields->n; i++) s->fields[i] = ((struct field_draft *)fields->items[i])->field;
    ir_struct_natural_layout(p->m, s);
    if (first && first->has_offset) {
        uint64_t end = 0;
        for (size_t i = 0; i < fields->n; i++) {
            s->fields[i].offset = ((struct field_draft *)fields->items[i])->field.offset;
            uint64_t size = ir_type_size(p->m, s->fields[i].type), after;
            if (__builtin_add_overflow(size, s->fields[i].offset, &after)) after = UINT64_MAX;
            if (after > end) end = after;
        }
        uint64_t up = end > UINT32_MAX - s->align ? UINT32_MAX : (end + s->align - 1) / s->align * s->align;
        s->size = (uint32_t)up;
    }
    if (parse_if_word(p, "size") && !parse_uint32(p, "a size", &s->size)) return false;
    return !parse_if_word(p, "align") || parse_uint32(p, "an alignment", &s->align);
}

static bool parse_struct(struct parser *p)
{
    struct parser_list fields = {0};
    parse_advance(p);
    struct token name = p->tok;
    if (name.kind != TOKEN_WORD) return parse_expected(p, "the name of a struct");
    parse_advance(p);
    uint64_t uses = 0;
    bool good = (!parse_if_word(p, "uses") || parse_aspects(p, &uses)) && parse_fields(p, &fields);
    if (good) {
        struct ir_struct *s = ir_struct_new(p->m, NULL, (uint32_t)fields.n);
        s->name = parse_copy(p, &name);
        s->aspects_used = uses;
        good = lay_out(p, s, &fields) && declare_name(p, &p->structs, &name, (void *)(uintptr_t)p->m->n_structs);
    }
    free(fields.items);
    return good;
}

/* ---- variables and pipes ---- */

static struct ir_global *global_new(struct parser *p, const struct token *name, enum ir_space space, ir_type type)
{
    struct ir_global *g = ir_global_new(p->m, NULL, space, type);
    g->name = parse_copy(p, name);
    return g;
}

static bool parse_property_value(struct parser *p, unsigned what, uint32_t *value)
{
    unsigned n;
    const char *const *words = ir_pipe_property_words(what, &n);
    if (!words) return parse_uint32(p, ir_pipe_property_name(what), value);
    int word = parse_find_word(&p->tok, words, n);
    if (word < 0) return parse_expected(p, ir_pipe_property_name(what));
    *value = (uint32_t)word;
    parse_advance(p);
    return true;
}

static bool parse_properties(struct parser *p, struct ir_global *g)
{
    const char *names[IR_PIPE_PROPERTY_COUNT];
    for (unsigned i = 0; i < IR_PIPE_PROPERTY_COUNT; i++) names[i] = ir_pipe_property_name(i);
    for (int what; (what = parse_find_word(&p->tok, names, IR_PIPE_PROPERTY_COUNT)) >= 0;) {
        struct token at = p->tok;
        uint32_t value = 0;
        parse_advance(p);
        if (!parse_property_value(p, (unsigned)what, &value)) return false;
        if (!ir_pipe_add_property(p->m, g, (unsigned)what, value)) return parse_error(p, &at, "%s twice", names[what]);
    }
    return true;
}

static bool parse_packet(struct parser *p, const struct token *name, ir_type type, struct ir_global **g)
{
    ir_type packet;
    if (!parse_word(p, "packet") || !parse_type(p, &packet)) return false;
    *g = global_new(p, name, IR_SPACE_GLOBAL, type);
    (*g)->packet = packet;
    if (!parse_word(p, "capacity") || !parse_uint32(p, "a capacity", &(*g)->capacity)) return false;
    char *id = NULL;
    if (parse_if_word(p, "host_access") && !parse_string(p, "the id for the host", &id)) return false;
    (*g)->host_access = id;
    return parse_properties(p, *g);
}

/* type: of a pipe; IR_VOID: the type follows the name. */
static bool parse_global(struct parser *p, enum ir_linkage linkage, enum ir_space space, ir_type type)
{
    struct ir_global *g;
    struct token name = p->tok;
    if (name.kind != TOKEN_SYMBOL) return parse_expected(p, "a name that begins with @");
    parse_advance(p);
    if (!parse_punct(p, ':')) return false;
    if (type != IR_VOID) {
        if (!parse_packet(p, &name, type, &g)) return false;
    } else {
        if (!parse_type(p, &type)) return false;
        g = global_new(p, &name, space, type);
    }
    g->linkage = linkage;
    if (!declare_name(p, &p->globals, &name, g)) return false;
    if (parse_if_word(p, "align") && !parse_uint32(p, "an alignment", &g->align)) return false;
    return !parse_if_punct(p, '=') || parse_init(p, g);
}

/* ---- functions ---- */

/* What could stand behind a parameter's type. */
static const char *nearest_of_param(const struct parser *p)
{
    const struct token *t = &p->tok;
    if (!parse_may_hint(p)) return NULL;
    const char *access = nearest_word(t->text, t->n, ir_access_words, IR_ACCESS_COUNT);
    return access ? access : parse_nearest_type(t);
}

static bool parse_param(struct parser *p, struct ir_param *param, struct token *name)
{
    *name = p->tok;
    param->elem = IR_VOID;
    if (name->kind != TOKEN_VALUE) return parse_expected(p, "the name of a parameter");
    parse_advance(p);
    param->value = arena_alloc(p->scratch, sizeof *param->value);
    if (!parse_punct(p, ':') || !parse_type(p, &param->value->type)) return false;
    if (parse_starts_type(&p->tok) && !parse_type(p, &param->elem)) return false;
    param->by_value = parse_if_word(p, "by_value");
    int access = parse_find_word(&p->tok, ir_access_words, IR_ACCESS_COUNT);
    if (access > 0) {
        param->access = (enum ir_access)access;
        parse_advance(p);
    }
    return p->tok.kind != TOKEN_WORD || parse_expected_like(p, ", or )", nearest_of_param(p));
}

/* A parameter as read, before the function is there. */
struct param_draft {
    struct ir_param param;
    struct token name;
};

static bool parse_params(struct parser *p, struct parser_list *params)
{
    if (!parse_punct(p, '(')) return false;
    p->locals = (struct names){.arena = p->scratch};
    while (!token_is(&p->tok, ')')) {
        struct param_draft *d = arena_alloc(p->scratch, sizeof *d);
        if (!parse_param(p, &d->param, &d->name) || !declare_name(p, &p->locals, &d->name, d)) return false;
        parse_push(params, d);
        if (!parse_if_punct(p, ',')) break;
    }
    return parse_punct(p, ')');
}

/* A number that is not 0: that stands for none. */
static bool parse_count(struct parser *p, const char *what, uint32_t *n)
{
    struct token at = p->tok;
    if (!parse_uint32(p, what, n)) return false;
    return *n || parse_error(p, &at, "%s must not be 0", what);
}

static bool parse_sizes(struct parser *p, uint32_t size[3])
{
    unsigned n = 0;
    size[0] = size[1] = size[2] = 1;
    if (!parse_punct(p, '(')) return false;
    do {
        if (!parse_count(p, "a size", &size[n++])) return false;
    } while (n < 3 && parse_if_punct(p, ','));
    return parse_punct(p, ')');
}

static bool parse_power(struct parser *p, uint32_t *size)
{
    struct token at = p->tok;
    if (!parse_uint32(p, "a size, automatic or primary", size)) return false;
    if (*size && (*size & (*size - 1)) == 0) return true;
    return parse_error(p, &at, "a sub-group size of %u, which is no power of two", *size);
}

static bool parse_sub_group_size(struct parser *p, uint32_t *size)
{
    if (!parse_punct(p, '(')) return false;
    if (parse_if_word(p, "automatic")) {
        *size = IR_SUB_GROUP_AUTOMATIC;
    } else if (parse_if_word(p, "primary")) {
        *size = IR_SUB_GROUP_PRIMARY;
    } else if (!parse_power(p, size)) {
        return false;
    }
    return parse_punct(p, ')');
}

static bool parse_refused(struct parser *p, struct ir_function *f)
{
    char *why;
    if (!parse_punct(p, '(') || !parse_string(p, "why the function is refused", &why) || !parse_punct(p, ')'))
        return false;
    if (!f->body) return parse_error(p, &p->tok, "an import cannot be refused");
    f->refused = why;
    return true;
}

static bool parse_sub_groups(struct parser *p, uint32_t *n)
{
    return parse_punct(p, '(') && parse_count(p, "a number", n) && parse_punct(p, ')');
}

enum attribute {
    WORK_GROUP_SIZE,
    WORK_GROUP_SIZE_HINT,
    SUB_GROUP_SIZE,
    SUB_GROUPS,
    ASPECTS,
    USES,
    ASSUMES,
    TARGETS,
    COMPILED,
    REFUSED,
    N_ATTRIBUTES
};

static bool parse_attribute(struct parser *p, struct ir_function *f, enum attribute a)
{
    switch (a) {
    case WORK_GROUP_SIZE: return parse_sizes(p, f->work_group_size);
    case WORK_GROUP_SIZE_HINT: return parse_sizes(p, f->work_group_size_hint);
    case SUB_GROUP_SIZE: return parse_sub_group_size(p, &f->sub_group_size);
    case SUB_GROUPS: return parse_sub_groups(p, &f->sub_groups_per_work_group);
    case ASPECTS: f->has_declared = true; return parse_aspects(p, &f->aspects_declared);
    case USES: return parse_aspects(p, &f->aspects_used);
    case ASSUMES: return parse_assumptions(p, f);
    case COMPILED: return parse_compiled(p, f);
    case REFUSED: return parse_refused(p, f);
    default: return parse_targets(p, f);
    }
}

/* Each at most once: a second one would take the place of the first, or be added to it. */
static bool parse_attributes(struct parser *p, struct ir_function *f)
{
    static const char *const words[N_ATTRIBUTES] = {[WORK_GROUP_SIZE] = "work_group_size",
                                                    [WORK_GROUP_SIZE_HINT] = "work_group_size_hint",
                                                    [SUB_GROUP_SIZE] = "sub_group_size",
                                                    [SUB_GROUPS] = "sub_groups_per_work_group",
                                                    [ASPECTS] = "aspects",
                                                    [USES] = "uses",
                                                    [ASSUMES] = "assumes",
                                                    [TARGETS] = "targets",
                                                    [COMPILED] = "compiled",
                                                    [REFUSED] = "refused"};
    for (unsigned seen = 0;;) {
        int a = parse_find_word(&p->tok, words, N_ATTRIBUTES);
        if (a < 0) return true;
        if (seen & 1u << a) return parse_error(p, &p->tok, "attribute %s is given twice", words[a]);
        seen |= 1u << a;
        parse_advance(p);
        if (!parse_attribute(p, f, (enum attribute)a)) return false;
    }
}

/* Past a body that is to be read later; its own errors are found then. */
static void skip_body(struct parser *p)
{
    unsigned depth = 0;
    do {
        if (token_is(&p->tok, '{')) depth++;
        if (token_is(&p->tok, '}')) depth--;
        parse_advance(p);
    } while (depth && p->tok.kind != TOKEN_END && !parse_starts_function(p));
}

static struct ir_function *function_new(struct parser *p, const struct token *name, enum ir_linkage linkage,
                                        ir_type result, const struct parser_list *params)
{
    struct ir_function *f = ir_function_new(p->m, NULL, linkage, result, (uint32_t)params->n);
    f->name = parse_copy(p, name);
    for (uint32_t i = 0; i < f->n_params; i++) {
        const struct param_draft *d = params->items[i];
        ir_function_set_param(f, i, NULL, d->param.value->type);
        f->params[i].elem = d->param.elem;
        f->params[i].by_value = d->param.by_value;
        f->params[i].access = d->param.access;
    }
    return f;
}

static bool parse_result(struct parser *p, ir_type *result)
{
    *result = IR_VOID;
    if (p->tok.kind != TOKEN_ARROW) return true;
    parse_advance(p);
    return parse_type(p, result);
}

static bool parse_head(struct parser *p, enum ir_linkage linkage, uint32_t line, struct parser_list *params,
                       struct pending *pending)
{
    ir_type result;
    struct token name = p->tok;
    if (name.kind != TOKEN_SYMBOL) return parse_expected(p, "the name of a function");
    parse_advance(p);
    if (!parse_params(p, params) || !parse_result(p, &result)) return false;
    struct ir_function *f = function_new(p, &name, linkage, result, params);
    if (!parse_attributes(p, f) || !declare_name(p, &p->functions, &name, f)) return false;

    *pending = (struct pending){.f = f, .lex = p->lex, .tok = p->tok, .line = line, .last_line = p->last_line};
    pending->names = arena_alloc(p->scratch, params->n * sizeof *pending->names);
    for (size_t i = 0; i < params->n; i++) pending->names[i] = ((struct param_draft *)params->items[i])->name;
    struct ir_loc ignored, mark = p->loc; /* marks count when the bodies are read, in the order of the text */
    bool good = parse_location(p, line, &ignored);
    p->loc = mark;
    if (!good || linkage == IR_LINKAGE_IMPORT || f->refused) return good;
    if (!token_is(&p->tok, '{')) return parse_expected(p, "an attribute of the function or {");
    skip_body(p);
    return true;
}

static bool parse_function(struct parser *p, enum ir_linkage linkage, uint32_t line, struct parser_list *bodies)
{
    struct parser_list params = {0};
    struct pending *pending = arena_alloc(p->scratch, sizeof *pending);
    bool good = parse_head(p, linkage, line, &params, pending);
    if (good) parse_push(bodies, pending);
    free(params.items);
    return good;
}

static void read_body(struct parser *p, const struct pending *pending)
{
    struct ir_function *f = pending->f;
    p->lex = pending->lex;
    p->tok = pending->tok;
    p->last_line = pending->last_line;
    p->function = f;
    p->locals = (struct names){.arena = p->scratch};
    for (uint32_t i = 0; i < f->n_params; i++) parse_define(p, &pending->names[i], f->params[i].value);
    bool good = parse_location(p, pending->line, &f->loc);
    if (good && f->refused) ir_function_refuse(f, f->refused);
    if (good && f->body && !f->refused) parse_body(p);
    p->visible.n = 0;
    p->function = NULL;
}

/* ---- modules ---- */

static bool parse_source(struct parser *p)
{
    if (p->marked) return parse_error(p, &p->tok, "source can be given only once");
    parse_advance(p);
    p->marked = true;
    return parse_file(p, &p->loc.file);
}

static bool parse_name(struct parser *p)
{
    char *name;
    if (p->m->name) return parse_error(p, &p->tok, "the module has a name already");
    parse_advance(p);
    if (!parse_string(p, "the name of the module", &name)) return false;
    p->m->name = name;
    return true;
}

static bool parse_pipe(struct parser *p, enum ir_linkage linkage)
{
    ir_type type = IR_TYPE(IR_KIND_PIPE, 1, IR_ACCESS_READ_WRITE - 1);
    if (!parse_if_word(p, "pipe") && !parse_type(p, &type)) return false;
    return parse_global(p, linkage, IR_SPACE_GLOBAL, type);
}

static bool is_pipe_word(const struct token *t)
{
    return token_is_word(t, "pipe") || token_is_word(t, "pipe.read") || token_is_word(t, "pipe.write") ||
           token_is_word(t, "pipe.read_write");
}

static const char *const item_words[] = {"module", "source", "struct", "aspects", "kernel", "func", "export", "import"};
enum { N_ITEM_WORDS = sizeof item_words / sizeof *item_words };

static bool parse_linked(struct parser *p, struct parser_list *bodies)
{
    uint32_t line = p->tok.line;
    enum ir_linkage linkage = IR_LINKAGE_INTERNAL;
    if (parse_if_word(p, "export"))
        linkage = parse_if_word(p, "once") ? IR_LINKAGE_EXPORT_ONCE : IR_LINKAGE_EXPORT;
    else if (parse_if_word(p, "import"))
        linkage = IR_LINKAGE_IMPORT;
    if (parse_if_word(p, "func")) return parse_function(p, linkage, line, bodies);
    if (is_pipe_word(&p->tok)) return parse_pipe(p, linkage);
    int space = parse_find_word(&p->tok, ir_space_words, IR_SPACE_COUNT);
    if (space < 0)
        return parse_expected_like(
            p,
            linkage == IR_LINKAGE_INTERNAL ? "module, source, aspects, struct, a variable, pipe, func or kernel"
                                           : "func, pipe or a variable",
            parse_may_hint(p) ? nearest_word(p->tok.text, p->tok.n, item_words, N_ITEM_WORDS) : NULL);
    parse_advance(p);
    return parse_global(p, linkage, (enum ir_space)space, IR_VOID);
}

static bool parse_item(struct parser *p, struct parser_list *bodies)
{
    uint32_t line = p->tok.line;
    if (token_is_word(&p->tok, "module")) return parse_name(p);
    if (token_is_word(&p->tok, "source")) return parse_source(p);
    if (token_is_word(&p->tok, "struct")) return parse_struct(p);
    if (token_is_word(&p->tok, "aspects")) return parse_aspect_numbers(p);
    if (parse_if_word(p, "kernel")) return parse_function(p, IR_LINKAGE_KERNEL, line, bodies);
    return parse_linked(p, bodies);
}

static bool starts_item(const struct token *t)
{
    return parse_find_word(t, item_words, N_ITEM_WORDS) >= 0 || is_pipe_word(t) ||
           parse_find_word(t, ir_space_words, IR_SPACE_COUNT) >= 0;
}

/* After an error: past braces, to a line that begins like an item. */
static void skip_item(struct parser *p)
{
    unsigned depth = 0;
    while (p->tok.kind != TOKEN_END && (depth || parse_same_line(p) || !starts_item(&p->tok))) {
        if (token_is(&p->tok, '{')) depth++;
        if (token_is(&p->tok, '}') && depth) depth--;
        parse_advance(p);
    }
}

static void read_module(struct parser *p)
{
    struct parser_list bodies = {0};
    while (p->tok.kind != TOKEN_END) {
        const char *before = p->tok.text;
        if (parse_item(p, &bodies)) continue;
        p->heads_failed = true;
        if (p->tok.text == before) parse_advance(p);
        skip_item(p);
    }
    parse_resolve_addresses(p);
    for (size_t i = 0; i < bodies.n; i++) read_body(p, bodies.items[i]);
    free(bodies.items);
}

struct ir_module *ir_parse(const char *text, size_t n, const char *file, struct diag_list *list)
{
    struct parser p = {.m = ir_module_new(NULL), .list = list, .scratch = arena_new(), .lex = lex_start(text, n)};
    p.structs = p.globals = p.functions = p.files = (struct names){.arena = p.scratch};
    p.init_budget = (uint64_t)n * INIT_BYTES_PER_TEXT + INIT_BYTES_FREE;
    p.file = ir_module_file(p.m, file);
    if (file) *names_put(&p.files, p.m->files[0], strlen(file)) = (void *)(uintptr_t)p.file;
    p.tok = lex_next(&p.lex);
    read_module(&p);
    arena_free(p.scratch);
    free(p.visible.items);
    free(p.operands.items);
    free(p.results.items);
    free(p.addresses.items);
    if (!p.failed && ir_verify(p.m, list)) return p.m;
    parse_place_findings(&p, file, text, n);
    ir_module_free(p.m);
    return NULL;
}
