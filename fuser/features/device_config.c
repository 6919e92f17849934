/* Reading the device configuration file. */
#include "fuser/features/device_config.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <yaml.h>

#include "fuser/features/default_devices.h"
#include "ir/base/arena.h"
#include "ir/core/aspects.h"

struct reader {
    struct device_config *c;
    yaml_document_t document;
    const char *name;
    struct error *e;
    struct ir_target *targets;
};

/* A hash (FNV-1a) above all numbers of aspects, so that targets of which nobody has heard have one, too. */
uint32_t device_config_target_aspect(const char *name)
{
    uint32_t hash = 2166136261u;
    for (; *name; name++) hash = (hash ^ (uint8_t)*name) * 16777619u;
    return hash | 1u << 31;
}

static int fail(struct reader *r, const yaml_node_t *at, const char *what, const char *which)
{
    return error_set(r->e, 1, r->name, "line %zu: %s%s%s%s", at ? at->start_mark.line + 1 : (size_t)1, what,
                     *which ? " `" : "", which, *which ? "`" : "");
}

static const yaml_node_t *node(struct reader *r, int index)
{
    return yaml_document_get_node(&r->document, index);
}

static const char *text_of(const yaml_node_t *n)
{
    return n->type == YAML_SCALAR_NODE ? (const char *)n->data.scalar.value : "";
}

static bool parse_number(const char *text, uint64_t *number)
{
    char *end;
    if (*text < '0' || *text > '9') return false;
    errno = 0;
    *number = strtoull(text, &end, 0);
    return !*end && !errno;
}

/* A number or the name of an aspect or of a target of the file. */
static bool parse_aspect(struct reader *r, const char *text, uint32_t *number)
{
    uint64_t n;
    if (parse_number(text, &n)) {
        *number = (uint32_t)n;
        return n <= UINT32_MAX;
    }
    int bit = ir_aspect_find(text);
    if (bit >= 0) *number = ir_aspect_number((unsigned)bit);
    if (bit >= 0) return true;
    for (size_t i = 0; i < r->c->targets.n; i++)
        if (strcmp(r->targets[i].name, text) == 0) {
            *number = device_config_target_aspect(text);
            return true;
        }
    return false;
}

static int read_aspects(struct reader *r, const yaml_node_t *list, struct ir_target *t)
{
    const yaml_node_item_t *items = list->data.sequence.items.start;
    size_t n = list->type == YAML_SEQUENCE_NODE ? (size_t)(list->data.sequence.items.top - items) : 0;
    if (list->type != YAML_SEQUENCE_NODE) return fail(r, list, "aspects are no list", "");
    uint32_t *numbers = arena_alloc(r->c->arena, (n + 1) * sizeof *numbers);
    for (size_t i = 0; i < n; i++)
        if (!parse_aspect(r, text_of(node(r, items[i])), &numbers[i]))
            return fail(r, node(r, items[i]), "there is no aspect", text_of(node(r, items[i])));
    numbers[n] = device_config_target_aspect(t->name);
    t->aspects = numbers;
    t->n_aspects = (uint32_t)n + 1;
    return 0;
}

static int read_sizes(struct reader *r, const yaml_node_t *list, struct ir_target *t)
{
    const yaml_node_item_t *items = list->data.sequence.items.start;
    size_t n = list->type == YAML_SEQUENCE_NODE ? (size_t)(list->data.sequence.items.top - items) : 0;
    if (list->type != YAML_SEQUENCE_NODE) return fail(r, list, "sub-group-sizes are no list", "");
    uint32_t *sizes = arena_alloc(r->c->arena, (n + 1) * sizeof *sizes);
    for (size_t i = 0; i < n; i++) {
        uint64_t size;
        const char *text = text_of(node(r, items[i]));
        if (!parse_number(text, &size) || !size || size > UINT32_MAX || size & (size - 1))
            return fail(r, node(r, items[i]), "a sub-group size is a power of two, not", text);
        sizes[i] = (uint32_t)size;
    }
    t->sub_group_sizes = sizes;
    t->n_sub_group_sizes = (uint32_t)n;
    return 0;
}

static int read_key(struct reader *r, struct ir_target *t, const yaml_node_t *key, const yaml_node_t *value)
{
    if (strcmp(text_of(key), "aspects") == 0) return read_aspects(r, value, t);
    if (strcmp(text_of(key), "sub-group-sizes") == 0) return read_sizes(r, value, t);
    if (strcmp(text_of(key), "max-work-group-size") != 0)
        return fail(r, key, "a device has aspects, sub-group-sizes and max-work-group-size, and no", text_of(key));
    if (parse_number(text_of(value), &t->max_work_group_size) && t->max_work_group_size) return 0;
    return fail(r, value, "a number of work-items is needed, not", text_of(value));
}

static int read_target(struct reader *r, struct ir_target *t, const yaml_node_t *map)
{
    uint32_t own = device_config_target_aspect(t->name), *only = arena_alloc(r->c->arena, sizeof *only);
    *only = own;
    t->aspects = only;
    t->n_aspects = 1;
    if (map->type != YAML_MAPPING_NODE) return fail(r, map, "a device is a map", "");
    for (const yaml_node_pair_t *p = map->data.mapping.pairs.start; p < map->data.mapping.pairs.top; p++)
        if (read_key(r, t, node(r, p->key), node(r, p->value)) != 0) return -1;
    return 0;
}

/* Names first: lists of aspects may name any of them. */
static int read_names(struct reader *r, const yaml_node_t *root)
{
    const yaml_node_pair_t *first = root->data.mapping.pairs.start;
    size_t n = (size_t)(root->data.mapping.pairs.top - first);
    r->targets = arena_alloc(r->c->arena, (n + 1) * sizeof *r->targets);
    r->c->targets = (struct ir_targets){r->targets, 0};
    for (size_t i = 0; i < n; i++) {
        const yaml_node_t *key = node(r, first[i].key);
        const char *name = text_of(key);
        if (!*name) return fail(r, key, "a device has no name", "");
        for (size_t k = 0; k < i; k++)
            if (device_config_target_aspect(r->targets[k].name) == device_config_target_aspect(name))
                return fail(r, key, "there are two devices", name);
        r->targets[i].name = arena_strndup(r->c->arena, name, strlen(name));
        r->c->targets.n++;
    }
    return 0;
}

static int read_document(struct reader *r)
{
    const yaml_node_t *root = yaml_document_get_root_node(&r->document);
    if (!root || root->type != YAML_MAPPING_NODE) return fail(r, root, "the file is no map of devices", "");
    if (read_names(r, root) != 0) return -1;
    const yaml_node_pair_t *pairs = root->data.mapping.pairs.start;
    for (size_t i = 0; i < r->c->targets.n; i++)
        if (read_target(r, &r->targets[i], node(r, pairs[i].value)) != 0) return -1;
    return 0;
}

int device_config_read(struct device_config *c, const char *text, size_t size, const char *name, struct error *e)
{
    yaml_parser_t parser;
    struct reader r = {.c = c, .name = name, .e = e};
    *c = (struct device_config){.arena = arena_new()};
    if (!yaml_parser_initialize(&parser)) return error_set(e, 1, name, "out of memory");
    yaml_parser_set_input_string(&parser, (const unsigned char *)text, size);
    int result;
    if (!yaml_parser_load(&parser, &r.document)) {
        result = error_set(e, 1, name, "line %zu: %s", parser.problem_mark.line + 1, parser.problem);
    } else {
        result = read_document(&r);
        yaml_document_delete(&r.document);
    }
    yaml_parser_delete(&parser);
    if (result != 0) device_config_clear(c);
    return result;
}

int device_config_open(struct device_config *c, const char *path, struct error *e)
{
    char *text = NULL;
    size_t size = 0;
    *c = (struct device_config){0};
    if (!path) return device_config_read(c, default_devices, strlen(default_devices), "the default devices", e);
    FILE *f = fopen(path, "rbe");
    if (!f) return error_set(e, 1, path, "%m");
    int result = getdelim(&text, &size, '\0', f) < 0 && ferror(f) ? error_set(e, 1, path, "%m") : 0;
    if (result == 0) result = device_config_read(c, text ? text : "", text ? strlen(text) : 0, path, e);
    free(text);
    fclose(f);
    return result;
}

void device_config_clear(struct device_config *c)
{
    if (c->arena) arena_free(c->arena);
    *c = (struct device_config){0};
}

const struct ir_target *device_config_find(const struct device_config *c, const char *name)
{
    for (size_t i = 0; i < c->targets.n; i++)
        if (strcmp(c->targets.items[i].name, name) == 0) return &c->targets.items[i];
    return NULL;
}
