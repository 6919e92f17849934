/*
 * Appends launches. A launch has the kernel's arguments and group size as they are when it is appended.
 *
 * FUSIOND_TEST_ZE_LOST_AFTER=N: the device is lost when that many launches have run.
 */
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "tests/level_zero/driver/allocations.h"
#include "tests/level_zero/driver/calls.h"
#include "tests/level_zero/driver/command.h"
#include "tests/level_zero/driver/limits.h"
#include "tests/level_zero/driver/list.h"
#include "tests/level_zero/driver/objects.h"

struct launch {
    struct command command;
    uint64_t code; /* the machine's */
    const struct spirv_kernel *kernel;
    struct machine_argument *arguments; /* own copies: kernels may be destroyed before lists are */
    uint32_t n_arguments;
    struct machine_range range;
    const ze_group_count_t *groups; /* where they are found when it runs; NULL: they are in range */
    const uint32_t *count;          /* likewise: it runs where more than index are to run */
    uint32_t index;
};

static bool is_to_be_lost(void)
{
    static atomic_ulong n_run;
    const char *after = getenv("FUSIOND_TEST_ZE_LOST_AFTER");
    return after && atomic_fetch_add(&n_run, 1) >= strtoul(after, NULL, 10);
}

static bool run_launch(struct command *command)
{
    struct launch *l = (struct launch *)command;
    if (is_to_be_lost()) return false;
    if (l->count && l->index >= *l->count) return true;
    struct machine_range range = l->range;
    if (l->groups) memcpy(range.groups, l->groups, sizeof range.groups);
    return machine_run(l->code, l->kernel, l->arguments, &range);
}

static void release_launch(struct command *command)
{
    struct launch *l = (struct launch *)command;
    for (uint32_t i = 0; i < l->n_arguments; i++) free(l->arguments[i].bytes);
    free(l->arguments);
}

/* A pointer is null or points into memory that the driver gave, all of which is resident. */
static bool is_good(const struct spirv_parameter *parameter, const struct machine_argument *a)
{
    if (a->size == 0) return false; /* it has not been set */
    if (parameter->kind != SPIRV_GLOBAL_POINTER) return true;
    const void *p = NULL;
    struct allocation found;
    memcpy(&p, a->bytes, sizeof p);
    return !p || allocations_find(p, &found);
}

static bool copy_arguments(struct launch *l, ze_kernel_handle_t kernel)
{
    l->arguments = calloc(l->kernel->n_parameters + 1, sizeof *l->arguments);
    for (uint32_t i = 0; l->arguments && i < l->kernel->n_parameters; i++) {
        l->n_arguments = i + 1;
        const struct machine_argument *a = &kernel->arguments[i];
        l->arguments[i].size = a->size;
        if (!a->bytes) continue;
        l->arguments[i].bytes = malloc(a->size);
        if (!l->arguments[i].bytes) return false;
        memcpy(l->arguments[i].bytes, a->bytes, a->size);
    }
    return l->arguments != NULL;
}

static ze_result_t check(ze_command_list_handle_t list, ze_kernel_handle_t kernel)
{
    if (list->ordinal != 0) return ZE_RESULT_ERROR_INVALID_COMMAND_LIST_TYPE;
    for (uint32_t i = 0; i < kernel->kernel->n_parameters; i++)
        if (!is_good(&kernel->kernel->parameters[i], &kernel->arguments[i])) return ZE_RESULT_ERROR_INVALID_ARGUMENT;
    return ZE_RESULT_SUCCESS;
}

static ze_result_t make(ze_command_list_handle_t list, ze_kernel_handle_t kernel, struct launch **launch)
{
    ze_result_t result = check(list, kernel);
    if (result != ZE_RESULT_SUCCESS) return result;
    struct launch *l = command_new(sizeof *l, run_launch, release_launch);
    if (!l) return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
    l->code = kernel->code;
    l->kernel = kernel->kernel;
    memcpy(l->range.group_size, kernel->group_size, sizeof kernel->group_size);
    memcpy(l->range.offset, kernel->offset, sizeof kernel->offset);
    if (!copy_arguments(l, kernel)) {
        command_free(&l->command);
        return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
    }
    *launch = l;
    return ZE_RESULT_SUCCESS;
}

ze_result_t ZE_APICALL level_append_launch_kernel(ze_command_list_handle_t list, ze_kernel_handle_t kernel,
                                                  const ze_group_count_t *groups, ze_event_handle_t signal,
                                                  uint32_t n_waits, ze_event_handle_t *waits)
{
    ze_result_t result = command_check(list, n_waits, waits);
    if (result != ZE_RESULT_SUCCESS) return result;
    if (!kernel) return ZE_RESULT_ERROR_INVALID_NULL_HANDLE;
    if (!groups) return ZE_RESULT_ERROR_INVALID_NULL_POINTER;
    struct launch *l;
    result = make(list, kernel, &l);
    if (result != ZE_RESULT_SUCCESS) return result;
    memcpy(l->range.groups, groups, sizeof l->range.groups);
    return command_append(list, &l->command, signal, n_waits, waits);
}

ze_result_t ZE_APICALL level_append_launch_kernel_indirect(ze_command_list_handle_t list, ze_kernel_handle_t kernel,
                                                           const ze_group_count_t *groups, ze_event_handle_t signal,
                                                           uint32_t n_waits, ze_event_handle_t *waits)
{
    ze_result_t result = command_check(list, n_waits, waits);
    if (result != ZE_RESULT_SUCCESS) return result;
    if (!kernel) return ZE_RESULT_ERROR_INVALID_NULL_HANDLE;
    if (!groups) return ZE_RESULT_ERROR_INVALID_NULL_POINTER;
    struct launch *l;
    result = make(list, kernel, &l);
    if (result != ZE_RESULT_SUCCESS) return result;
    l->groups = groups;
    return command_append(list, &l->command, signal, n_waits, waits);
}

/* The first one waits for the events, and what comes after the last one signals. */
ze_result_t ZE_APICALL level_append_launch_multiple_kernels_indirect(ze_command_list_handle_t list, uint32_t n,
                                                                     ze_kernel_handle_t *kernels, const uint32_t *count,
                                                                     const ze_group_count_t *groups,
                                                                     ze_event_handle_t signal, uint32_t n_waits,
                                                                     ze_event_handle_t *waits)
{
    ze_result_t result = command_check(list, n_waits, waits);
    if (result != ZE_RESULT_SUCCESS) return result;
    if (!kernels || !count || !groups) return ZE_RESULT_ERROR_INVALID_NULL_POINTER;
    for (uint32_t i = 0; i < n && result == ZE_RESULT_SUCCESS; i++)
        result = kernels[i] ? check(list, kernels[i]) : ZE_RESULT_ERROR_INVALID_NULL_HANDLE;
    if (result == ZE_RESULT_SUCCESS) result = command_append_nothing(list, NULL, n_waits, waits);
    for (uint32_t i = 0; i < n && result == ZE_RESULT_SUCCESS; i++) {
        struct launch *l;
        result = make(list, kernels[i], &l);
        if (result != ZE_RESULT_SUCCESS) return result;
        l->groups = &groups[i];
        l->count = count;
        l->index = i;
        result = command_append(list, &l->command, NULL, 0, NULL);
    }
    return result == ZE_RESULT_SUCCESS ? command_append_nothing(list, signal, 0, NULL) : result;
}
