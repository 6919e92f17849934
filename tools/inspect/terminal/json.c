#include "tools/inspect/terminal/json.h"

#include <stdio.h>

void print_json(json_object *json)
{
    puts(json_object_to_json_string_ext(json, JSON_C_TO_STRING_PRETTY | JSON_C_TO_STRING_NOSLASHESCAPE));
}
