/* Reads the directives of a file of kernels. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "ir/base/arena.h"
#include "tests/corpus/corpus.h"

struct reading {
    const char *path, *pocl_version;
    unsigned line;
    char *rest; /* of the line */
    struct corpus_kernel *kernel;
};

static const struct corpus_type types[] = {
    {"i8", 1, false, true},  {"u8", 1, false, false},  {"i16", 2, false, true}, {"u16", 2, false, false},
    {"i32", 4, false, true}, {"u32", 4, false, false}, {"i64", 8, false, true}, {"u64", 8, false, false},
    {"f32", 4, true, true},  {"f64", 8, true, true},
};

static bool wrong(const struct reading *r, const char *what, const char *word)
{
    fprintf(stderr, "%s:%u: %s: %s\n", r->path, r->line, what, word ? word : "end of the line");
    return false;
}

static char *copy_of(const char *s)
{
    size_t n = strlen(s) + 1;
    return memcpy(arena_realloc(NULL, n), s, n);
}

/* The next word of the line, or NULL. */
static char *next(struct reading *r)
{
    char *word = strtok_r(r->rest, " \t\n", &r->rest);
    return word;
}

static bool number(struct reading *r, double *to)
{
    char *word = next(r), *end = word;
    if (word) *to = strtod(word, &end);
    return word && end != word && !*end ? true : wrong(r, "not a number", word);
}

static const struct corpus_type *type_named(const char *word)
{
    for (size_t i = 0; word && i < sizeof types / sizeof *types; i++)
        if (strcmp(types[i].name, word) == 0) return &types[i];
    return NULL;
}

/* 256, 16x16 or 8x4x2; returns the number of dimensions, 0 where it is none. */
static uint32_t extent(const char *word, uint64_t to[3])
{
    uint32_t n = 0;
    while (word && n < 3) {
        char *end;
        to[n++] = strtoull(word, &end, 10);
        if (end == word) return 0;
        if (!*end) return n;
        if (*end != 'x') return 0;
        word = end + 1;
    }
    return 0;
}

static bool read_kernel(struct reading *r, struct corpus *c)
{
    struct corpus_kernel *k = arena_realloc(NULL, sizeof *k);
    *k = (struct corpus_kernel){.range = {.global = {1, 1, 1}, .local = {1, 1, 1}}};
    if (c->no_pocl) k->no_pocl = copy_of(c->no_pocl);
    c->kernels = arena_realloc(c->kernels, (c->n + 1) * sizeof(struct corpus_kernel *));
    c->kernels[c->n++] = r->kernel = k;
    char *name = next(r), *size = next(r), *local = next(r);
    if (!name) return wrong(r, "kernel without a name", NULL);
    k->name = copy_of(name);
    k->range.dims = extent(size, k->range.global);
    if (!k->range.dims) return wrong(r, "not a size", size);
    return extent(local, k->range.local) == k->range.dims ? true : wrong(r, "not a local size", local);
}

static bool read_data(struct reading *r, struct corpus_arg *a)
{
    static const struct {
        const char *name;
        enum corpus_data data;
        unsigned numbers;
    } kinds[] = {{"zero", CORPUS_ZERO, 0},       {"iota", CORPUS_IOTA, 0},       {"bits", CORPUS_BITS, 0},
                 {"uniform", CORPUS_UNIFORM, 2}, {"special", CORPUS_SPECIAL, 1}, {"mixed", CORPUS_MIXED, 2}};
    char *word = next(r);
    for (size_t i = 0; word && i < sizeof kinds / sizeof *kinds; i++) {
        if (strcmp(kinds[i].name, word) != 0) continue;
        a->data = kinds[i].data;
        return (kinds[i].numbers < 1 || number(r, &a->low)) && (kinds[i].numbers < 2 || number(r, &a->high));
    }
    return wrong(r, "not a kind of data", word);
}

static bool read_rules(struct reading *r, struct corpus_arg *a)
{
    char *word = next(r);
    if (!word) return true;
    if (strcmp(word, "->") != 0) return wrong(r, "expected ->", word);
    while ((word = next(r))) {
        struct corpus_bound bound;
        if (!corpus_bound(word, a->type->size, &bound)) return wrong(r, "not a rule", word);
        if (a->n_rules == CORPUS_MAX_RULES) return wrong(r, "too many rules", word);
        a->rules[a->n_rules++] = copy_of(word);
    }
    uint64_t count = a->size / a->type->size;
    return a->n_rules && count % a->n_rules == 0 ? true
                                                 : wrong(r, "as many elements do not have so many equal parts", NULL);
}

static bool read_buffer(struct reading *r, struct corpus_arg *a)
{
    char *word = next(r);
    double count;
    a->kind = INTERP_ARG_BUFFER;
    a->type = type_named(word);
    if (!a->type) return wrong(r, "not a type", word);
    if (!number(r, &count)) return false;
    a->size = (uint64_t)count * a->type->size;
    return read_data(r, a) && read_rules(r, a);
}

static bool put_number(struct reading *r, struct corpus_arg *a, const struct corpus_type *t, const char *word)
{
    uint64_t at = (a->size + t->size - 1) / t->size * t->size, bits;
    char *end;
    double d = strtod(word, &end);
    float f = (float)d;
    if (end == word || *end) return wrong(r, "not a number", word);
    if (t->is_float)
        memcpy(&bits, t->size == 4 ? (void *)&f : (void *)&d, t->size);
    else
        bits = *word == '-' ? (uint64_t)strtoll(word, NULL, 0) : strtoull(word, NULL, 0);
    if (at + t->size > sizeof a->value) return wrong(r, "value too large", word);
    memcpy(a->value + at, &bits, t->size);
    a->size = at + t->size;
    return true;
}

static bool read_value(struct reading *r, struct corpus_arg *a)
{
    const struct corpus_type *t = NULL;
    a->kind = INTERP_ARG_BYTES;
    for (char *word = next(r); word; word = next(r)) {
        const struct corpus_type *named = type_named(word);
        if (named)
            t = named;
        else if (!t)
            return wrong(r, "not a type", word);
        else if (!put_number(r, a, t, word))
            return false;
    }
    return a->size ? true : wrong(r, "value without a number", NULL);
}

static bool read_local(struct reading *r, struct corpus_arg *a)
{
    double bytes;
    a->kind = INTERP_ARG_LOCAL;
    if (!number(r, &bytes)) return false;
    a->size = (uint64_t)bytes;
    return true;
}

/* 16, 16[4], 16x8, 16x8[4], 16x8x4 or buffer:16. */
static bool read_image_size(char *word, struct corpus_arg *a)
{
    static const enum ir_image_form plain[] = {IR_IMAGE_1D, IR_IMAGE_2D, IR_IMAGE_3D},
                                    arrays[] = {IR_IMAGE_1D_ARRAY, IR_IMAGE_2D_ARRAY};
    uint64_t size[3] = {0, 1, 0};
    char *layers = word ? strchr(word, '[') : NULL;
    bool buffer = word && strncmp(word, "buffer:", 7) == 0;
    if (layers) *layers++ = 0;
    uint32_t n = extent(buffer ? word + 7 : word, size);
    if (!n || (layers && n > 2) || (buffer && n > 1)) return false;
    a->form = buffer ? IR_IMAGE_1D_BUFFER : layers ? arrays[n - 1] : plain[n - 1];
    a->image.width = (uint32_t)size[0];
    a->image.height = (uint32_t)size[1];
    a->image.slices = layers ? (uint32_t)atoi(layers) : (uint32_t)size[2];
    return true;
}

static bool read_image(struct reading *r, struct corpus_arg *a)
{
    char *order = next(r), *channel = order ? next(r) : NULL;
    uint32_t n_channels = 0;
    a->kind = INTERP_ARG_IMAGE;
    a->type = channel ? type_named(corpus_image_format(order, channel, &a->image, &n_channels)) : NULL;
    if (!a->type) return wrong(r, "not a format", channel);
    if (!read_image_size(next(r), a)) return wrong(r, "not the size of an image", NULL);
    a->image.row_pitch = a->image.width * n_channels * a->type->size;
    uint64_t slice = (uint64_t)a->image.row_pitch * a->image.height;
    if (a->image.slices) a->image.slice_pitch = slice;
    a->size = slice * ir_image_slices(&a->image);
    return read_data(r, a) && read_rules(r, a);
}

static bool read_pipe(struct reading *r, struct corpus_arg *a)
{
    double elements, capacity, packets;
    char *word = next(r);
    a->kind = INTERP_ARG_PIPE;
    a->type = type_named(word);
    if (!a->type) return wrong(r, "not a type", word);
    if (!number(r, &elements) || !number(r, &capacity) || !number(r, &packets)) return false;
    a->pipe.packet_size = (uint32_t)elements * a->type->size;
    a->pipe.capacity = (uint32_t)capacity;
    a->pipe.written = (uint64_t)packets;
    a->size = (uint64_t)a->pipe.packet_size * a->pipe.capacity;
    return read_data(r, a) && read_rules(r, a);
}

static bool read_sampler(struct reading *r, struct corpus_arg *a)
{
    uint32_t bits = 0;
    a->kind = INTERP_ARG_BYTES;
    a->is_sampler = true;
    a->size = sizeof bits;
    for (char *word = next(r); word; word = next(r))
        if (!corpus_sampler_word(word, &bits)) return wrong(r, "not a sampler's word", word);
    memcpy(a->value, &bits, sizeof bits);
    return true;
}

static const char *reason(struct reading *r)
{
    char *text = r->rest + strspn(r->rest, " \t");
    text[strcspn(text, "\n")] = 0;
    return *text ? text : NULL;
}

static bool add_difference(struct reading *r, const char *rule, bool only_zeros, const char *why)
{
    struct corpus_kernel *k = r->kernel;
    if (k->n_differs == CORPUS_MAX_DIFFERS) return wrong(r, "too many differences", NULL);
    k->differs[k->n_differs++] = (struct corpus_differs){copy_of(rule), copy_of(why), only_zeros};
    return true;
}

/* Of the kernel, or before the first one of the file. What is said of another version of PoCL is only checked. */
static bool read_pocl(struct reading *r, struct corpus *c, char *word)
{
    char *version = strchr(word, '@');
    if (version) *version++ = 0;
    bool left_out = strcmp(word, "pocl") == 0, only_zeros = strcmp(word, "pocl-zeros") == 0;
    if (!left_out && !only_zeros && strcmp(word, "pocl-differs") != 0) return wrong(r, "not a directive", word);
    if (!left_out && !r->kernel) return wrong(r, "expected a kernel", word);
    const char *rule = left_out ? NULL : next(r);
    if (!left_out && !rule) return wrong(r, "expected a rule", NULL);
    const char *why = reason(r);
    if (!why) return wrong(r, "expected a reason", NULL);
    if (version && strcmp(version, r->pocl_version) != 0) return true;
    if (!left_out) return add_difference(r, rule, only_zeros, why);
    char **to = r->kernel ? &r->kernel->no_pocl : &c->no_pocl;
    free(*to);
    *to = copy_of(why);
    return true;
}

/* What says something of the whole file. How it is compiled matters to build-module. */
static bool read_file_line(const struct reading *r, const char *word)
{
    static const char *const compiling[] = {"language", "spirv", "unoptimized", "translator", "debug"};
    for (size_t i = 0; i < sizeof compiling / sizeof *compiling; i++)
        if (strcmp(word, compiling[i]) == 0) return true;
    return wrong(r, "expected a kernel", word);
}

static bool read_line(struct reading *r, struct corpus *c)
{
    static const struct {
        const char *name;
        bool (*read)(struct reading *, struct corpus_arg *);
    } arguments[] = {{"buffer", read_buffer}, {"value", read_value},     {"local", read_local},
                     {"image", read_image},   {"sampler", read_sampler}, {"pipe", read_pipe}};
    char *word = next(r);
    if (!word) return wrong(r, "expected a directive", word);
    if (strcmp(word, "kernel") == 0) return read_kernel(r, c);
    if (strncmp(word, "pocl", 4) == 0) return read_pocl(r, c, word);
    if (strcmp(word, "ordered") == 0 && r->kernel) {
        const char *why = reason(r);
        r->kernel->ordered = why != NULL;
        return why ? true : wrong(r, "expected a reason", NULL);
    }
    struct corpus_kernel *k = r->kernel;
    if (!k) return read_file_line(r, word);
    for (size_t i = 0; i < sizeof arguments / sizeof *arguments; i++) {
        if (strcmp(arguments[i].name, word) != 0) continue;
        if (k->n_args == CORPUS_MAX_ARGS) return wrong(r, "too many arguments", word);
        return arguments[i].read(r, &k->args[k->n_args++]);
    }
    if (strcmp(word, "offset") == 0) {
        word = next(r);
        return extent(word, k->range.offset) == k->range.dims ? true : wrong(r, "not an offset", word);
    }
    return wrong(r, "not a directive", word);
}

bool corpus_read(const char *path, const char *pocl_version, struct corpus *c)
{
    *c = (struct corpus){0};
    struct reading r = {.path = path, .pocl_version = pocl_version};
    FILE *f = fopen(path, "r");
    if (!f) {
        fprintf(stderr, "%s: %s\n", path, strerror(errno));
        return false;
    }
    char line[1000];
    bool good = true;
    while (good && fgets(line, sizeof line, f)) {
        r.line++;
        if (strncmp(line, "//:", 3) != 0) continue;
        r.rest = line + 3;
        good = read_line(&r, c);
    }
    fclose(f);
    if (!good) corpus_clear(c);
    return good;
}

uint64_t corpus_buffer_at(const struct corpus_kernel *k, uint32_t arg)
{
    uint64_t at = 0;
    for (uint32_t i = 0; i < arg; i++)
        if (corpus_has_memory(&k->args[i])) at += (k->args[i].size + 63) / 64 * 64;
    return at;
}

void corpus_clear(struct corpus *c)
{
    for (uint32_t i = 0; i < c->n; i++) {
        struct corpus_kernel *k = c->kernels[i];
        for (uint32_t a = 0; a < k->n_args; a++)
            for (uint32_t s = 0; s < k->args[a].n_rules; s++) free(k->args[a].rules[s]);
        for (uint32_t d = 0; d < k->n_differs; d++) {
            free(k->differs[d].rule);
            free(k->differs[d].reason);
        }
        free(k->no_pocl);
        free(k->name);
        free(k);
    }
    free(c->kernels);
    free(c->no_pocl);
    *c = (struct corpus){0};
}
