/* Reading YAML: what the parts of a graph file share. */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <yaml.h>

#include "tools/inspect/graph/graph_data.h"

struct reader {
    yaml_document_t document;
    const char *path;
    bool failed;
};

/* Reports the first failure, with file and line; always false. */
bool reader_fail(struct reader *r, const yaml_node_t *at, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

struct file_place reader_place(const yaml_node_t *n);
yaml_node_t *reader_node(struct reader *r, int index);
const char *reader_text_of(const yaml_node_t *n);                                   /* NULL: it is no scalar */
yaml_node_t *reader_get(struct reader *r, const yaml_node_t *map, const char *key); /* NULL: not there */
bool reader_need_map(struct reader *r, const yaml_node_t *n, const char *what);
uint32_t reader_list_size(const yaml_node_t *n);
yaml_node_t *reader_list_item(struct reader *r, const yaml_node_t *n, uint32_t i);
/* Every key of the mapping must be one of the NULL-terminated list: a misspelt one is not passed over. */
/* No mapping of the document has a key twice: of two buffers of one name neither is the right one. */
bool reader_check_keys(struct reader *r);
bool reader_known_keys(struct reader *r, const yaml_node_t *map, const char *const *keys);
bool reader_text(struct reader *r, const yaml_node_t *n, char **out);
bool reader_u64(struct reader *r, const yaml_node_t *n, uint64_t *out);
bool reader_optional_u64(struct reader *r, const yaml_node_t *map, const char *key, uint64_t *out);
bool reader_optional_bool(struct reader *r, const yaml_node_t *map, const char *key, bool *out); /* true or false */
bool reader_optional_text(struct reader *r, const yaml_node_t *map, const char *key, char **out);
/* Up to max numbers; a lone number counts as a list of one. */
bool reader_sizes(struct reader *r, const yaml_node_t *n, uint64_t *sizes, uint32_t max, uint32_t *count);
