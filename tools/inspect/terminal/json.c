#include "tools/inspect/terminal/json.h"

#include <stdio.h>

void print_json(json_object *json)
{
    puts(json_object_to_json_string_ext(json, JSON_C_TO_STRING_PRETTY | JSON_C_TO_STRING_NOSLASHESCAPE));
}

json_object *json_member(json_object *o, const char *key)
{
    json_object *value;
    return json_object_object_get_ex(o, key, &value) ? value : NULL;
}

uint64_t json_number(json_object *o, const char *key)
{
    json_object *value = json_member(o, key);
    return value ? (uint64_t)json_object_get_int64(value) : 0;
}

const char *json_text_of(json_object *o, const char *key)
{
    json_object *value = json_member(o, key);
    return value ? json_object_get_string(value) : "";
}
