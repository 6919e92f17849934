/*
 * A command as lists keep it and queues run it: a structure of its own kind that begins with this one. Commands of a
 * list run one after the other, which is an order that the specification always allows.
 */
#pragma once

#include <level_zero/ze_api.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct command {
    struct command *next;
    bool (*run)(struct command *c);     /* false: the device is lost */
    void (*release)(struct command *c); /* what it has beside itself; may be NULL */
    ze_event_handle_t signal;           /* may be NULL */
    uint32_t n_waits;
    ze_event_handle_t *waits;
};

/* Memory of a command of so many bytes, to be filled in and appended; NULL: there is none. */
void *command_new(size_t size, bool (*run)(struct command *c), void (*release)(struct command *c));
void command_free(struct command *c);

/* Waits for its events, runs it, signals its event. False: the device is lost. */
bool command_run(struct command *c);

/* What all calls that append check of their list and events. */
ze_result_t command_check(ze_command_list_handle_t list, uint32_t n_waits, ze_event_handle_t *waits);

/* Makes it the list's last, or runs it where the list is immediate. It is taken over in any case; NULL is no memory. */
ze_result_t command_append(ze_command_list_handle_t list, struct command *c, ze_event_handle_t signal, uint32_t n_waits,
                           ze_event_handle_t *waits);

/* A command that does nothing but wait and signal. */
ze_result_t command_append_nothing(ze_command_list_handle_t list, ze_event_handle_t signal, uint32_t n_waits,
                                   ze_event_handle_t *waits);
