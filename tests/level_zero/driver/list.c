#include "tests/level_zero/driver/list.h"

#include <stdlib.h>

#include "tests/level_zero/driver/calls.h"
#include "tests/level_zero/driver/command.h"
#include "tests/level_zero/driver/limits.h"
#include "tests/level_zero/driver/queue.h"
#include "tests/level_zero/driver/state.h"

void list_add(ze_command_list_handle_t list, struct command *c)
{
    if (list->last)
        list->last->next = c;
    else
        list->first = c;
    list->last = c;
}

static void empty(ze_command_list_handle_t list)
{
    for (struct command *c = list->first, *next; c; c = next) {
        next = c->next;
        command_free(c);
    }
    list->first = list->last = NULL;
}

ze_result_t ZE_APICALL level_list_create(ze_context_handle_t context, ze_device_handle_t device,
                                         const ze_command_list_desc_t *desc, ze_command_list_handle_t *list)
{
    if (!context || !device) return ZE_RESULT_ERROR_INVALID_NULL_HANDLE;
    if (!desc || !list) return ZE_RESULT_ERROR_INVALID_NULL_POINTER;
    if (desc->flags > 15) return ZE_RESULT_ERROR_INVALID_ENUMERATION;
    if (desc->commandQueueGroupOrdinal >= LIMIT_QUEUE_GROUPS) return ZE_RESULT_ERROR_INVALID_ARGUMENT;
    if (state_device_is_lost()) return ZE_RESULT_ERROR_DEVICE_LOST;
    *list = calloc(1, sizeof **list);
    if (!*list) return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
    **list = (struct _ze_command_list_handle_t){.ordinal = desc->commandQueueGroupOrdinal};
    return ZE_RESULT_SUCCESS;
}

ze_result_t ZE_APICALL level_list_create_immediate(ze_context_handle_t context, ze_device_handle_t device,
                                                   const ze_command_queue_desc_t *desc, ze_command_list_handle_t *list)
{
    if (!context || !device) return ZE_RESULT_ERROR_INVALID_NULL_HANDLE;
    if (!desc || !list) return ZE_RESULT_ERROR_INVALID_NULL_POINTER;
    ze_command_list_handle_t made = calloc(1, sizeof *made);
    if (!made) return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
    made->ordinal = desc->ordinal;
    ze_result_t result = level_queue_create(context, device, desc, &made->queue);
    if (result == ZE_RESULT_SUCCESS)
        *list = made;
    else
        free(made);
    return result;
}

ze_result_t ZE_APICALL level_list_destroy(ze_command_list_handle_t list)
{
    if (!list) return ZE_RESULT_ERROR_INVALID_NULL_HANDLE;
    if (list->queue) level_queue_destroy(list->queue);
    empty(list);
    free(list);
    return ZE_RESULT_SUCCESS;
}

ze_result_t ZE_APICALL level_list_close(ze_command_list_handle_t list)
{
    if (!list) return ZE_RESULT_ERROR_INVALID_NULL_HANDLE;
    if (!list->queue) list->closed = true;
    return ZE_RESULT_SUCCESS;
}

ze_result_t ZE_APICALL level_list_reset(ze_command_list_handle_t list)
{
    if (!list) return ZE_RESULT_ERROR_INVALID_NULL_HANDLE;
    empty(list);
    list->closed = false;
    return ZE_RESULT_SUCCESS;
}
