#include "tests/level_zero/driver/command.h"

#include <stdlib.h>
#include <string.h>

#include "tests/level_zero/driver/list.h"
#include "tests/level_zero/driver/objects.h"
#include "tests/level_zero/driver/queue.h"
#include "tests/level_zero/driver/state.h"

void *command_new(size_t size, bool (*run)(struct command *c), void (*release)(struct command *c))
{
    struct command *c = calloc(1, size);
    if (!c) return NULL;
    c->run = run;
    c->release = release;
    return c;
}

void command_free(struct command *c)
{
    if (!c) return;
    if (c->release) c->release(c);
    free(c->waits);
    free(c);
}

static bool is_signaled(const void *event)
{
    return ((const struct _ze_event_handle_t *)event)->signaled;
}

bool command_run(struct command *c)
{
    for (uint32_t i = 0; i < c->n_waits; i++)
        if (state_await(is_signaled, c->waits[i], UINT64_MAX) != ZE_RESULT_SUCCESS) return false;
    uint64_t start = state_nanoseconds();
    if (c->run && !c->run(c)) return false;
    if (!c->signal) return true;
    state_lock();
    c->signal->time = (ze_kernel_timestamp_data_t){.kernelStart = start, .kernelEnd = state_nanoseconds()};
    c->signal->signaled = true;
    state_unlock();
    return true;
}

ze_result_t command_check(ze_command_list_handle_t list, uint32_t n_waits, ze_event_handle_t *waits)
{
    if (!list) return ZE_RESULT_ERROR_INVALID_NULL_HANDLE;
    if (!waits && n_waits > 0) return ZE_RESULT_ERROR_INVALID_SIZE;
    for (uint32_t i = 0; i < n_waits; i++)
        if (!waits[i]) return ZE_RESULT_ERROR_INVALID_SYNCHRONIZATION_OBJECT;
    if (state_device_is_lost()) return ZE_RESULT_ERROR_DEVICE_LOST;
    return list->closed ? ZE_RESULT_ERROR_INVALID_ARGUMENT : ZE_RESULT_SUCCESS;
}

ze_result_t command_append(ze_command_list_handle_t list, struct command *c, ze_event_handle_t signal, uint32_t n_waits,
                           ze_event_handle_t *waits)
{
    if (!c) return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
    c->signal = signal;
    c->n_waits = n_waits;
    c->waits = calloc(n_waits + 1, sizeof *c->waits);
    if (!c->waits) {
        command_free(c);
        return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
    }
    if (n_waits) memcpy(c->waits, waits, n_waits * sizeof *waits);
    if (list->queue) return queue_run_now(list->queue, c);
    list_add(list, c);
    return ZE_RESULT_SUCCESS;
}

ze_result_t command_append_nothing(ze_command_list_handle_t list, ze_event_handle_t signal, uint32_t n_waits,
                                   ze_event_handle_t *waits)
{
    ze_result_t result = command_check(list, n_waits, waits);
    if (result != ZE_RESULT_SUCCESS) return result;
    return command_append(list, command_new(sizeof(struct command), NULL, NULL), signal, n_waits, waits);
}
