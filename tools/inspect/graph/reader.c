/* Reading YAML with libyaml: each error names file and line. */
#include "tools/inspect/graph/reader.h"
#include "ir/base/nearest.h"
#include "tools/inspect/terminal/complain.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Reports the first failure; always false. */
bool reader_fail(struct reader *r, const yaml_node_t *at, const char *format, ...)
{
    char text[1024];
    va_list args;
    if (r->failed) return false;
    r->failed = true;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    return complain_at(r->path, at ? at->start_mark.line + 1 : 1, at ? at->start_mark.column + 1 : 0, "%s", text);
}

/* ---- YAML helpers ---- */

struct file_place reader_place(const yaml_node_t *n)
{
    return (struct file_place){n->start_mark.line + 1, n->start_mark.column + 1};
}

yaml_node_t *reader_node(struct reader *r, int index)
{
    return yaml_document_get_node(&r->document, index);
}

const char *reader_text_of(const yaml_node_t *n)
{
    return n->type == YAML_SCALAR_NODE ? (const char *)n->data.scalar.value : NULL;
}

yaml_node_t *reader_get(struct reader *r, const yaml_node_t *map, const char *key)
{
    for (yaml_node_pair_t *p = map->data.mapping.pairs.start; p < map->data.mapping.pairs.top; p++) {
        const char *k = reader_text_of(reader_node(r, p->key));
        if (k && strcmp(k, key) == 0) return reader_node(r, p->value);
    }
    return NULL;
}

bool reader_need_map(struct reader *r, const yaml_node_t *n, const char *what)
{
    return n->type == YAML_MAPPING_NODE || reader_fail(r, n, "%s must be a mapping (key: value)", what);
}

uint32_t reader_list_size(const yaml_node_t *n)
{
    return (uint32_t)(n->data.sequence.items.top - n->data.sequence.items.start);
}

yaml_node_t *reader_list_item(struct reader *r, const yaml_node_t *n, uint32_t i)
{
    return reader_node(r, n->data.sequence.items.start[i]);
}

/* Every key of the mapping must be one of the NULL-terminated list: a misspelt one is not passed over. */
bool reader_known_keys(struct reader *r, const yaml_node_t *map, const char *const *keys)
{
    char hint[120];
    for (yaml_node_pair_t *p = map->data.mapping.pairs.start; p < map->data.mapping.pairs.top; p++) {
        const yaml_node_t *key = reader_node(r, p->key);
        const char *text = reader_text_of(key);
        if (!text) return reader_fail(r, key, "unknown key `%s`", "(not a name)");
        const char *const *k = keys;
        while (*k && strcmp(*k, text)) k++;
        if (*k) continue;
        struct nearest s = nearest_begin(text, strlen(text));
        for (k = keys; *k; k++) nearest_offer(&s, *k);
        return reader_fail(r, key, "unknown key `%s`%s", text, nearest_hint(s.best, hint, sizeof hint));
    }
    return true;
}

static bool unique_keys(struct reader *r, const yaml_node_t *map)
{
    const yaml_node_pair_t *start = map->data.mapping.pairs.start;
    for (const yaml_node_pair_t *p = start; p < map->data.mapping.pairs.top; p++) {
        const yaml_node_t *key = reader_node(r, p->key);
        const char *text = reader_text_of(key);
        for (const yaml_node_pair_t *before = start; text && before < p; before++) {
            const char *other = reader_text_of(reader_node(r, before->key));
            if (other && strcmp(text, other) == 0) return reader_fail(r, key, "`%s` is there twice", text);
        }
    }
    return true;
}

bool reader_check_keys(struct reader *r)
{
    for (const yaml_node_t *n = r->document.nodes.start; n < r->document.nodes.top; n++)
        if (n->type == YAML_MAPPING_NODE && !unique_keys(r, n)) return false;
    return true;
}

bool reader_text(struct reader *r, const yaml_node_t *n, char **out)
{
    const char *text = reader_text_of(n);
    if (!text || !*text) return reader_fail(r, n, "a name is needed here");
    *out = strdup(text);
    return true;
}

bool reader_u64(struct reader *r, const yaml_node_t *n, uint64_t *out)
{
    const char *text = reader_text_of(n);
    char *end = NULL;
    unsigned long long v = text && isdigit((unsigned char)*text) ? strtoull(text, &end, 0) : 0;
    if (!end || *end) return reader_fail(r, n, "`%s` is no whole number", text ? text : "(a list)");
    *out = v;
    return true;
}

bool reader_optional_u64(struct reader *r, const yaml_node_t *map, const char *key, uint64_t *out)
{
    const yaml_node_t *n = reader_get(r, map, key);
    return !n || reader_u64(r, n, out);
}

bool reader_optional_bool(struct reader *r, const yaml_node_t *map, const char *key, bool *out)
{
    const yaml_node_t *n = reader_get(r, map, key);
    const char *text = n ? reader_text_of(n) : NULL;
    if (!n) return true;
    if (!text || (strcmp(text, "true") != 0 && strcmp(text, "false") != 0))
        return reader_fail(r, n, "%s is true or false, not `%s`", key, text ? text : "(a list)");
    *out = strcmp(text, "true") == 0;
    return true;
}

bool reader_optional_text(struct reader *r, const yaml_node_t *map, const char *key, char **out)
{
    const yaml_node_t *n = reader_get(r, map, key);
    return !n || reader_text(r, n, out);
}

/* Up to max numbers; a lone number counts as a list of one. */
bool reader_sizes(struct reader *r, const yaml_node_t *n, uint64_t *sizes, uint32_t max, uint32_t *count)
{
    if (n->type == YAML_SCALAR_NODE) {
        *count = 1;
        return reader_u64(r, n, &sizes[0]);
    }
    if (n->type != YAML_SEQUENCE_NODE || reader_list_size(n) == 0 || reader_list_size(n) > max)
        return reader_fail(r, n, "a list of 1 to %u numbers is needed", max);
    *count = reader_list_size(n);
    for (uint32_t i = 0; i < *count; i++)
        if (!reader_u64(r, reader_list_item(r, n, i), &sizes[i])) return false;
    return true;
}
