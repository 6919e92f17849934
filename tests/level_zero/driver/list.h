/* Command lists: commands in the order in which they were appended. */
#pragma once

#include <level_zero/ze_api.h>
#include <stdbool.h>

struct command;

struct _ze_command_list_handle_t {
    uint32_t ordinal; /* of the queue group */
    bool closed;
    ze_command_queue_handle_t queue; /* of an immediate list, its own; else NULL */
    struct command *first, *last;
};

void list_add(ze_command_list_handle_t list, struct command *c);
