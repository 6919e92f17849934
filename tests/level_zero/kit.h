/* What the tests of the Level Zero driver share: the loader with its first device, and shorter forms of common calls.
 */
#pragma once

// clang-format off
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
// clang-format on
#include <level_zero/ze_api.h>
#include <stdbool.h>
#include <stdint.h>

struct kit {
    ze_driver_handle_t driver;
    ze_device_handle_t device;
    ze_context_handle_t context;
    ze_command_queue_handle_t queue; /* asynchronous, of the group that computes */
    ze_event_pool_handle_t pool;     /* that the host sees, with times */
    const char *folder;              /* of modules */
};

#define good(call) assert_int_equal(call, ZE_RESULT_SUCCESS)
#define fails(call, error) assert_int_equal(call, error)

void kit_start(struct kit *k, const char *folder);
void kit_stop(struct kit *k);

uint8_t *kit_read(const struct kit *k, const char *name, size_t *size); /* to be freed */
ze_module_handle_t kit_module(const struct kit *k, const char *name);
ze_kernel_handle_t kit_kernel(ze_module_handle_t module, const char *name);

void *kit_shared(const struct kit *k, size_t size);
void kit_free(const struct kit *k, void *p);
ze_event_handle_t kit_event(const struct kit *k, uint32_t index);

ze_command_list_handle_t kit_list(const struct kit *k);
void kit_append(ze_command_list_handle_t list, ze_kernel_handle_t kernel, uint32_t groups); /* waits for none */
void kit_submit(const struct kit *k, ze_command_list_handle_t list);                        /* closes it, too */
void kit_run(const struct kit *k, ze_command_list_handle_t list); /* and waits, and destroys the list */
