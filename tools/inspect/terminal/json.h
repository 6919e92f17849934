/* JSON on standard output. */
#pragma once

#include <json.h>

void print_json(json_object *json); /* indented */
