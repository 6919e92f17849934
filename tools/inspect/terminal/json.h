/* JSON on standard output, and members of objects. */
#pragma once

#include <json.h>
#include <stdint.h>

void print_json(json_object *json); /* indented */
/* A member: NULL, 0 or "" where there is none. */
json_object *json_member(json_object *o, const char *key);
uint64_t json_number(json_object *o, const char *key);
const char *json_text_of(json_object *o, const char *key);
