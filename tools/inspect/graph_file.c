/* Reading graph files with libyaml; each error names file and line. */
#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <yaml.h>

#include "tools/inspect/graph_file.h"

struct reader {
    yaml_document_t document;
    const char *path;
    bool failed;
};

static bool fail(struct reader *r, const yaml_node_t *at, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Reports the first failure; always false. */
static bool fail(struct reader *r, const yaml_node_t *at, const char *format, ...)
{
    if (r->failed) return false;
    r->failed = true;
    fprintf(stderr, "%s:%zu: ", r->path, at ? at->start_mark.line + 1 : 1);
    va_list args;
    va_start(args, format);
    vfprintf(stderr, format, args);
    va_end(args);
    fputc('\n', stderr);
    return false;
}

/* ---- YAML helpers ---- */

static yaml_node_t *node_at(struct reader *r, int index)
{
    return yaml_document_get_node(&r->document, index);
}

static const char *text_of(const yaml_node_t *n)
{
    return n->type == YAML_SCALAR_NODE ? (const char *)n->data.scalar.value : NULL;
}

static yaml_node_t *map_get(struct reader *r, const yaml_node_t *map, const char *key)
{
    for (yaml_node_pair_t *p = map->data.mapping.pairs.start; p < map->data.mapping.pairs.top; p++) {
        const char *k = text_of(node_at(r, p->key));
        if (k && strcmp(k, key) == 0) return node_at(r, p->value);
    }
    return NULL;
}

static bool need_map(struct reader *r, const yaml_node_t *n, const char *what)
{
    return n->type == YAML_MAPPING_NODE || fail(r, n, "%s must be a mapping (key: value)", what);
}

static uint32_t list_size(const yaml_node_t *n)
{
    return (uint32_t)(n->data.sequence.items.top - n->data.sequence.items.start);
}

static yaml_node_t *list_item(struct reader *r, const yaml_node_t *n, uint32_t i)
{
    return node_at(r, n->data.sequence.items.start[i]);
}

/* Every key of the mapping must be one of the NULL-terminated list: a misspelt one is not passed over. */
static bool known_keys(struct reader *r, const yaml_node_t *map, const char *const *keys)
{
    for (yaml_node_pair_t *p = map->data.mapping.pairs.start; p < map->data.mapping.pairs.top; p++) {
        const yaml_node_t *key = node_at(r, p->key);
        const char *text = text_of(key);
        const char *const *k = keys;
        while (*k && (!text || strcmp(*k, text))) k++;
        if (!*k) return fail(r, key, "unknown key `%s`", text ? text : "(not a name)");
    }
    return true;
}

static bool read_text(struct reader *r, const yaml_node_t *n, char **out)
{
    const char *text = text_of(n);
    if (!text || !*text) return fail(r, n, "a name is needed here");
    *out = strdup(text);
    return true;
}

static bool read_u64(struct reader *r, const yaml_node_t *n, uint64_t *out)
{
    const char *text = text_of(n);
    char *end = NULL;
    unsigned long long v = text && isdigit((unsigned char)*text) ? strtoull(text, &end, 0) : 0;
    if (!end || *end) return fail(r, n, "`%s` is no whole number", text ? text : "(a list)");
    *out = v;
    return true;
}

static bool optional_u64(struct reader *r, const yaml_node_t *map, const char *key, uint64_t *out)
{
    const yaml_node_t *n = map_get(r, map, key);
    return !n || read_u64(r, n, out);
}

static bool optional_text(struct reader *r, const yaml_node_t *map, const char *key, char **out)
{
    const yaml_node_t *n = map_get(r, map, key);
    return !n || read_text(r, n, out);
}

/* Up to max numbers; a lone number counts as a list of one. */
static bool read_sizes(struct reader *r, const yaml_node_t *n, uint64_t *sizes, uint32_t max, uint32_t *count)
{
    if (n->type == YAML_SCALAR_NODE) {
        *count = 1;
        return read_u64(r, n, &sizes[0]);
    }
    if (n->type != YAML_SEQUENCE_NODE || list_size(n) == 0 || list_size(n) > max)
        return fail(r, n, "a list of 1 to %u numbers is needed", max);
    *count = list_size(n);
    for (uint32_t i = 0; i < *count; i++)
        if (!read_u64(r, list_item(r, n, i), &sizes[i])) return false;
    return true;
}

static bool read_properties(struct reader *r, const yaml_node_t *map, unsigned *properties)
{
    static const struct {
        const char *name;
        unsigned bit;
    } known[] = {{"access_scope_work_item", FUSION_ACCESS_SCOPE_WORK_ITEM},
                 {"access_scope_work_group", FUSION_ACCESS_SCOPE_WORK_GROUP},
                 {"fusion_internal_memory", FUSION_INTERNAL_MEMORY},
                 {"no_init", FUSION_NO_INIT}};
    const yaml_node_t *list = map_get(r, map, "properties");
    if (!list) return true;
    if (list->type != YAML_SEQUENCE_NODE) return fail(r, list, "properties must be a list");
    for (uint32_t i = 0; i < list_size(list); i++) {
        const yaml_node_t *item = list_item(r, list, i);
        const char *name = text_of(item);
        unsigned bit = 0;
        for (unsigned k = 0; k < 4; k++)
            if (name && strcmp(known[k].name, name) == 0) bit = known[k].bit;
        if (!bit)
            return fail(r, item,
                        "unknown property `%s` (access_scope_work_item, access_scope_work_group, "
                        "fusion_internal_memory, no_init)",
                        name ? name : "");
        *properties |= bit;
    }
    return true;
}

/* ---- modules and buffers ---- */

static bool read_constants(struct reader *r, const yaml_node_t *map, struct file_input *in)
{
    if (!need_map(r, map, "constants")) return false;
    uint32_t n = (uint32_t)(map->data.mapping.pairs.top - map->data.mapping.pairs.start);
    in->constants = calloc(n + 1, sizeof *in->constants);
    for (; in->n_constants < n; in->n_constants++) {
        yaml_node_pair_t *p = &map->data.mapping.pairs.start[in->n_constants];
        const yaml_node_t *key = node_at(r, p->key), *value = node_at(r, p->value);
        fusion_constant *c = &in->constants[in->n_constants];
        uint64_t id;
        if (!read_u64(r, key, &id)) return false;
        if (id > UINT32_MAX) return fail(r, key, "a specialization constant has a number of 32 bits");
        if (!text_of(value) || !constant_parse(text_of(value), c))
            return fail(r, value, "`%s` is no constant: a type and a value are needed, as f32 1.5",
                        text_of(value) ? text_of(value) : "");
        c->id = (uint32_t)id;
    }
    return true;
}

/* A path, or a mapping with the path and how it is read. */
static bool read_input(struct reader *r, const yaml_node_t *n, struct file_input *in)
{
    static const char *const keys[] = {"file", "sub_group_size", "constants", NULL};
    in->line = (int)n->start_mark.line + 1;
    if (n->type == YAML_SCALAR_NODE) return read_text(r, n, &in->path);
    if (!need_map(r, n, "a module's file") || !known_keys(r, n, keys)) return false;
    const yaml_node_t *file = map_get(r, n, "file"), *constants = map_get(r, n, "constants");
    if (!file) return fail(r, n, "a module needs file: its path");
    return read_text(r, file, &in->path) && optional_text(r, n, "sub_group_size", &in->sub_group_size) &&
           (!constants || read_constants(r, constants, in));
}

static bool read_inputs(struct reader *r, const yaml_node_t *n, struct file_module *m)
{
    bool list = n->type == YAML_SEQUENCE_NODE;
    uint32_t count = list ? list_size(n) : 1;
    if (!count) return fail(r, n, "a module is made of one file at least");
    m->inputs = calloc(count, sizeof *m->inputs);
    m->line = (int)n->start_mark.line + 1;
    while (m->n_inputs < count) {
        const yaml_node_t *item = list ? list_item(r, n, m->n_inputs) : n;
        if (!read_input(r, item, &m->inputs[m->n_inputs++])) return false;
    }
    return true;
}

static bool read_modules(struct reader *r, const yaml_node_t *map, struct graph_file *f)
{
    if (!need_map(r, map, "modules")) return false;
    size_t n = (size_t)(map->data.mapping.pairs.top - map->data.mapping.pairs.start);
    f->modules = calloc(n + 1, sizeof *f->modules);
    for (size_t i = 0; i < n; i++) {
        yaml_node_pair_t *p = &map->data.mapping.pairs.start[i];
        struct file_module *m = &f->modules[f->n_modules++];
        if (!read_text(r, node_at(r, p->key), &m->name) || !read_inputs(r, node_at(r, p->value), m)) return false;
    }
    return true;
}

static bool read_shape(struct reader *r, const yaml_node_t *n, struct file_buffer *b)
{
    const yaml_node_t *shape = map_get(r, n, "shape"), *count = map_get(r, n, "count");
    if (!shape == !count) return fail(r, n, "buffer %s needs either count or shape", b->name);
    if (!read_sizes(r, shape ? shape : count, b->shape, 4, &b->dims)) return false;
    b->count = 1;
    for (uint32_t d = 0; d < b->dims; d++)
        if (b->shape[d] == 0 || __builtin_mul_overflow(b->count, b->shape[d], &b->count))
            return fail(r, n, "buffer %s: a shape of 0 or of more elements than a number holds", b->name);
    return true;
}

static bool read_fill(struct reader *r, const yaml_node_t *n, struct file_buffer *b)
{
    const yaml_node_t *fill = map_get(r, n, "fill");
    if (!fill) return true;
    char *end = NULL;
    const char *text = text_of(fill);
    b->fill = text ? strtod(text, &end) : 0;
    if (!end || end == text || *end) return fail(r, fill, "fill must be a number");
    b->has_fill = true;
    return true;
}

static bool read_buffer(struct reader *r, const yaml_node_t *n, struct file_buffer *b)
{
    static const char *const keys[] = {"type", "count", "shape", "properties", "fill", "usm", NULL};
    if (!need_map(r, n, "a buffer") || !known_keys(r, n, keys)) return false;
    b->line = (int)n->start_mark.line + 1;
    const yaml_node_t *type = map_get(r, n, "type");
    if (!type || !text_of(type) || !type_parse(text_of(type), &b->type))
        return fail(r, type ? type : n, "buffer %s: unknown type `%s` (i8 ... i64, u8 ... u64, f16, f32, f64, bytes)",
                    b->name, type && text_of(type) ? text_of(type) : "");
    const yaml_node_t *usm = map_get(r, n, "usm");
    b->usm = usm && text_of(usm) && strcmp(text_of(usm), "true") == 0;
    return read_shape(r, n, b) && read_properties(r, n, &b->properties) && read_fill(r, n, b);
}

static bool read_buffers(struct reader *r, const yaml_node_t *map, struct graph_file *f)
{
    if (!need_map(r, map, "buffers")) return false;
    size_t n = (size_t)(map->data.mapping.pairs.top - map->data.mapping.pairs.start);
    f->buffers = calloc(n + 1, sizeof *f->buffers);
    for (size_t i = 0; i < n; i++) {
        yaml_node_pair_t *p = &map->data.mapping.pairs.start[i];
        char *name = NULL;
        if (!read_text(r, node_at(r, p->key), &name)) return false;
        bool twice = graph_file_buffer(f, name) != NULL;
        struct file_buffer *b = &f->buffers[f->n_buffers++];
        b->name = name;
        if (twice) return fail(r, node_at(r, p->key), "buffer %s is there twice", name);
        if (!read_buffer(r, node_at(r, p->value), b)) return false;
    }
    return true;
}

const struct file_buffer *graph_file_buffer(const struct graph_file *f, const char *name)
{
    for (uint32_t i = 0; i < f->n_buffers; i++)
        if (strcmp(f->buffers[i].name, name) == 0) return &f->buffers[i];
    return NULL;
}

static bool need_buffer(struct reader *r, const yaml_node_t *at, const struct graph_file *f, const char *name)
{
    return graph_file_buffer(f, name) || fail(r, at, "unknown buffer `%s`", name);
}

/* ---- arguments ---- */

static bool read_numbers(struct reader *r, const yaml_node_t *n, struct file_arg *a)
{
    bool list = n->type == YAML_SEQUENCE_NODE;
    a->kind = FILE_ARG_NUMBERS;
    a->n_numbers = list ? list_size(n) : 1;
    a->numbers = calloc(a->n_numbers + 1, sizeof *a->numbers);
    for (uint32_t i = 0; i < a->n_numbers; i++)
        if (!read_text(r, list ? list_item(r, n, i) : n, &a->numbers[i])) return false;
    return true;
}

static bool read_arg(struct reader *r, const yaml_node_t *n, const struct graph_file *f, struct file_arg *a)
{
    static const char *const keys[] = {"read", "write", "read_write", "local", "offset", "count", "properties", NULL};
    static const fusion_access accesses[] = {FUSION_ACCESS_READ, FUSION_ACCESS_WRITE, FUSION_ACCESS_READ_WRITE};
    a->line = (int)n->start_mark.line + 1;
    if (n->type != YAML_MAPPING_NODE) return read_numbers(r, n, a);
    if (!known_keys(r, n, keys)) return false;
    const yaml_node_t *local = map_get(r, n, "local");
    if (local) {
        a->kind = FILE_ARG_LOCAL;
        return read_u64(r, local, &a->local_bytes);
    }
    for (int i = 0; i < 3; i++) {
        const yaml_node_t *name = map_get(r, n, keys[i]);
        if (!name) continue;
        if (a->buffer) return fail(r, n, "an argument has one of read, write, read_write");
        a->access = accesses[i];
        if (!read_text(r, name, &a->buffer) || !need_buffer(r, name, f, a->buffer)) return false;
    }
    if (!a->buffer)
        return fail(r, n,
                    "an argument is a number, a list of numbers, {read: ...}, {write: ...}, {read_write: ...} or "
                    "{local: bytes}");
    return optional_u64(r, n, "offset", &a->offset) && optional_u64(r, n, "count", &a->count) &&
           read_properties(r, n, &a->properties);
}

static bool read_args(struct reader *r, const yaml_node_t *list, const struct graph_file *f, struct file_node *node)
{
    if (list->type != YAML_SEQUENCE_NODE) return fail(r, list, "args must be a list");
    node->args = calloc(list_size(list) + 1, sizeof *node->args);
    for (uint32_t i = 0; i < list_size(list); i++, node->n_args++)
        if (!read_arg(r, list_item(r, list, i), f, &node->args[i])) {
            node->n_args++;
            return false;
        }
    return true;
}

/* ---- nodes ---- */

static bool read_range(struct reader *r, const yaml_node_t *n, struct file_node *node)
{
    const yaml_node_t *global = map_get(r, n, "global"), *local = map_get(r, n, "local"),
                      *offset = map_get(r, n, "offset");
    uint32_t dims;
    if (!global) return fail(r, n, "a kernel node needs global: [sizes]");
    if (!read_sizes(r, global, node->global, 3, &node->dims)) return false;
    if (local && (!read_sizes(r, local, node->local, 3, &dims) ||
                  (dims != node->dims && !fail(r, local, "local has %u dimensions, global %u", dims, node->dims))))
        return false;
    if (offset && (!read_sizes(r, offset, node->offset, 3, &dims) ||
                   (dims != node->dims && !fail(r, offset, "offset has %u dimensions, global %u", dims, node->dims))))
        return false;
    return true;
}

static bool read_kernel_node(struct reader *r, const yaml_node_t *n, const struct graph_file *f, struct file_node *node)
{
    static const char *const keys[] = {"name", "kernel", "global", "local", "offset", "args", "depends_on", NULL};
    const yaml_node_t *kernel = map_get(r, n, "kernel"), *args = map_get(r, n, "args");
    if (!known_keys(r, n, keys)) return false;
    const char *text = text_of(kernel), *dot = text ? strchr(text, '.') : NULL;
    if (!dot || !dot[1]) return fail(r, kernel, "a kernel is written module.kernel");
    node->kind = FILE_NODE_KERNEL;
    node->module = strndup(text, (size_t)(dot - text));
    node->kernel = strdup(dot + 1);
    bool known = false;
    for (uint32_t i = 0; i < f->n_modules; i++) known = known || strcmp(f->modules[i].name, node->module) == 0;
    if (!known) return fail(r, kernel, "unknown module `%s`", node->module);
    return read_range(r, n, node) && (!args || read_args(r, args, f, node));
}

static bool read_copy(struct reader *r, const yaml_node_t *n, const struct graph_file *f, struct file_node *node)
{
    static const char *const keys[] = {"from", "to", "from_offset", "to_offset", "count", NULL};
    if (!need_map(r, n, "copy") || !known_keys(r, n, keys)) return false;
    const yaml_node_t *from = map_get(r, n, "from"), *to = map_get(r, n, "to");
    node->kind = FILE_NODE_COPY;
    if (!from || !to) return fail(r, n, "a copy needs from and to");
    return read_text(r, from, &node->from) && read_text(r, to, &node->to) && need_buffer(r, from, f, node->from) &&
           need_buffer(r, to, f, node->to) && optional_u64(r, n, "from_offset", &node->from_offset) &&
           optional_u64(r, n, "to_offset", &node->to_offset) && optional_u64(r, n, "count", &node->count);
}

static bool read_fill_node(struct reader *r, const yaml_node_t *n, const struct graph_file *f, struct file_node *node)
{
    static const char *const keys[] = {"to", "value", "offset", "count", NULL};
    if (!need_map(r, n, "fill") || !known_keys(r, n, keys)) return false;
    const yaml_node_t *to = map_get(r, n, "to"), *value = map_get(r, n, "value");
    node->kind = FILE_NODE_FILL;
    if (!to || !value) return fail(r, n, "a fill needs to and value");
    return read_text(r, to, &node->to) && need_buffer(r, to, f, node->to) && read_text(r, value, &node->value) &&
           optional_u64(r, n, "offset", &node->to_offset) && optional_u64(r, n, "count", &node->count);
}

static bool read_deps(struct reader *r, const yaml_node_t *n, struct file_node *node)
{
    const yaml_node_t *list = map_get(r, n, "depends_on");
    if (!list) return true;
    if (list->type != YAML_SEQUENCE_NODE) return fail(r, list, "depends_on must be a list of node names");
    node->deps = calloc(list_size(list) + 1, sizeof *node->deps);
    for (uint32_t i = 0; i < list_size(list); i++)
        if (!read_text(r, list_item(r, list, i), &node->deps[node->n_deps++])) return false;
    return true;
}

static bool read_node(struct reader *r, const yaml_node_t *n, const struct graph_file *f, struct file_node *node)
{
    static const char *const memory_keys[] = {"name", "copy", "fill", "depends_on", NULL};
    if (!need_map(r, n, "a node")) return false;
    node->line = (int)n->start_mark.line + 1;
    if (!optional_text(r, n, "name", &node->name) || !read_deps(r, n, node)) return false;
    const yaml_node_t *copy = map_get(r, n, "copy"), *fill = map_get(r, n, "fill");
    if (map_get(r, n, "kernel")) return read_kernel_node(r, n, f, node);
    if (!copy == !fill) return fail(r, n, "a node is one of kernel, copy, fill");
    return known_keys(r, n, memory_keys) && (copy ? read_copy(r, copy, f, node) : read_fill_node(r, fill, f, node));
}

static bool read_nodes(struct reader *r, const yaml_node_t *list, struct graph_file *f)
{
    if (list->type != YAML_SEQUENCE_NODE) return fail(r, list, "graph must be a list of nodes");
    f->nodes = calloc(list_size(list) + 1, sizeof *f->nodes);
    for (uint32_t i = 0; i < list_size(list); i++) {
        f->n_nodes++;
        if (!read_node(r, list_item(r, list, i), f, &f->nodes[i])) return false;
    }
    return true;
}

/* Names given in the file are unique, and each depends_on names one of them. */
static bool check_names(struct reader *r, const struct graph_file *f)
{
    for (uint32_t i = 0; i < f->n_nodes; i++) {
        for (uint32_t d = 0; d < f->nodes[i].n_deps; d++) {
            bool found = false;
            for (uint32_t k = 0; k < f->n_nodes; k++)
                found = found || (f->nodes[k].name && !strcmp(f->nodes[k].name, f->nodes[i].deps[d]));
            if (found) continue;
            fprintf(stderr, "%s:%d: depends_on names no node: `%s`\n", r->path, f->nodes[i].line, f->nodes[i].deps[d]);
            return false;
        }
    }
    return true;
}

/* ---- the file ---- */

static bool read_root(struct reader *r, struct graph_file *f)
{
    static const char *const keys[] = {"modules", "buffers", "graph", NULL};
    yaml_node_t *root = yaml_document_get_root_node(&r->document);
    if (!root) return fail(r, NULL, "the file is empty");
    if (!need_map(r, root, "a graph file") || !known_keys(r, root, keys)) return false;
    yaml_node_t *modules = map_get(r, root, "modules"), *buffers = map_get(r, root, "buffers"),
                *graph = map_get(r, root, "graph");
    if (!graph) return fail(r, root, "there is no graph: list of nodes");
    return (!modules || read_modules(r, modules, f)) && (!buffers || read_buffers(r, buffers, f)) &&
           read_nodes(r, graph, f) && check_names(r, f);
}

struct graph_file *graph_file_read(const char *path)
{
    FILE *in = fopen(path, "rb");
    if (!in) {
        perror(path);
        return NULL;
    }
    struct reader r = {.path = path};
    struct graph_file *f = calloc(1, sizeof *f);
    f->path = strdup(path);
    yaml_parser_t parser;
    yaml_parser_initialize(&parser);
    yaml_parser_set_input_file(&parser, in);
    bool ok = yaml_parser_load(&parser, &r.document);
    if (ok) {
        ok = read_root(&r, f);
        yaml_document_delete(&r.document);
    } else {
        fprintf(stderr, "%s:%zu: %s\n", path, parser.problem_mark.line + 1,
                parser.problem ? parser.problem : "no YAML");
    }
    yaml_parser_delete(&parser);
    fclose(in);
    if (ok) return f;
    graph_file_free(f);
    return NULL;
}

static void free_node(struct file_node *n)
{
    for (uint32_t a = 0; a < n->n_args; a++) {
        for (uint32_t i = 0; i < n->args[a].n_numbers; i++) free(n->args[a].numbers[i]);
        free(n->args[a].numbers);
        free(n->args[a].buffer);
    }
    for (uint32_t d = 0; d < n->n_deps; d++) free(n->deps[d]);
    free(n->args);
    free(n->deps);
    free(n->name);
    free(n->module);
    free(n->kernel);
    free(n->from);
    free(n->to);
    free(n->value);
}

void file_input_clear(struct file_input *in)
{
    for (uint32_t i = 0; i < in->n_constants; i++) free((void *)in->constants[i].value);
    free(in->constants);
    free(in->sub_group_size);
    free(in->path);
}

void graph_file_free(struct graph_file *f)
{
    if (!f) return;
    for (uint32_t i = 0; i < f->n_modules; i++) {
        for (uint32_t k = 0; k < f->modules[i].n_inputs; k++) file_input_clear(&f->modules[i].inputs[k]);
        free(f->modules[i].inputs);
        free(f->modules[i].name);
    }
    for (uint32_t i = 0; i < f->n_buffers; i++) free(f->buffers[i].name);
    for (uint32_t i = 0; i < f->n_nodes; i++) free_node(&f->nodes[i]);
    free(f->modules);
    free(f->buffers);
    free(f->nodes);
    free(f->path);
    free(f);
}
