/* Allocating memory, and asking what an address is. Files can be imported and exported; nothing else can. */
#include <fcntl.h>
#include <unistd.h>

#include "tests/level_zero/driver/allocations.h"
#include "tests/level_zero/driver/calls.h"
#include "tests/level_zero/driver/limits.h"
#include "tests/level_zero/driver/objects.h"
#include "tests/level_zero/driver/state.h"

/* What all extensions of a structure begin with. */
struct extension {
    ze_structure_type_t stype;
    const struct extension *next;
};

static const void *find_extension(const void *chain, ze_structure_type_t type)
{
    for (const struct extension *e = chain; e; e = e->next)
        if (e->stype == type) return e;
    return NULL;
}

static ze_result_t check(const void *chain, size_t size, size_t alignment)
{
    bool relaxed = find_extension(chain, ZE_STRUCTURE_TYPE_RELAXED_ALLOCATION_LIMITS_EXP_DESC);
    if (state_device_is_lost()) return ZE_RESULT_ERROR_DEVICE_LOST;
    if (size == 0 || size > (relaxed ? limit_memory() : limit_allocation())) return ZE_RESULT_ERROR_UNSUPPORTED_SIZE;
    return alignment & (alignment - 1) ? ZE_RESULT_ERROR_UNSUPPORTED_ALIGNMENT : ZE_RESULT_SUCCESS;
}

static ze_result_t allocate(struct allocation *a, const void *chain, void **p)
{
    ze_result_t result = check(chain, a->size, a->alignment);
    if (result != ZE_RESULT_SUCCESS) return result;
    const ze_external_memory_import_fd_t *import = find_extension(chain, ZE_STRUCTURE_TYPE_EXTERNAL_MEMORY_IMPORT_FD);
    const ze_external_memory_export_desc_t *export =
        find_extension(chain, ZE_STRUCTURE_TYPE_EXTERNAL_MEMORY_EXPORT_DESC);
    a->file = -1;
    if ((import && import->flags != ZE_EXTERNAL_MEMORY_TYPE_FLAG_OPAQUE_FD) ||
        (export && export->flags != ZE_EXTERNAL_MEMORY_TYPE_FLAG_OPAQUE_FD))
        return ZE_RESULT_ERROR_UNSUPPORTED_ENUMERATION;
    if (import) {
        a->imported = true;
        a->file = fcntl(import->fd, F_DUPFD_CLOEXEC, 0);
        if (a->file < 0) return ZE_RESULT_ERROR_INVALID_ARGUMENT;
    }
    result = allocations_add(a, export && !import);
    if (result == ZE_RESULT_SUCCESS) *p = a->base;
    return result;
}

ze_result_t ZE_APICALL level_mem_alloc_device(ze_context_handle_t context, const ze_device_mem_alloc_desc_t *desc,
                                              size_t size, size_t alignment, ze_device_handle_t device, void **p)
{
    if (!context || !device) return ZE_RESULT_ERROR_INVALID_NULL_HANDLE;
    if (!desc || !p) return ZE_RESULT_ERROR_INVALID_NULL_POINTER;
    if (desc->flags > 7) return ZE_RESULT_ERROR_INVALID_ENUMERATION;
    struct allocation a = {
        .size = size, .alignment = alignment, .type = ZE_MEMORY_TYPE_DEVICE, .context = context, .device = device};
    return allocate(&a, desc->pNext, p);
}

ze_result_t ZE_APICALL level_mem_alloc_host(ze_context_handle_t context, const ze_host_mem_alloc_desc_t *desc,
                                            size_t size, size_t alignment, void **p)
{
    if (!context) return ZE_RESULT_ERROR_INVALID_NULL_HANDLE;
    if (!desc || !p) return ZE_RESULT_ERROR_INVALID_NULL_POINTER;
    if (desc->flags > 15) return ZE_RESULT_ERROR_INVALID_ENUMERATION;
    struct allocation a = {.size = size, .alignment = alignment, .type = ZE_MEMORY_TYPE_HOST, .context = context};
    return allocate(&a, desc->pNext, p);
}

ze_result_t ZE_APICALL level_mem_alloc_shared(ze_context_handle_t context,
                                              const ze_device_mem_alloc_desc_t *device_desc,
                                              const ze_host_mem_alloc_desc_t *host_desc, size_t size, size_t alignment,
                                              ze_device_handle_t device, void **p)
{
    if (!context) return ZE_RESULT_ERROR_INVALID_NULL_HANDLE;
    if (!device_desc || !host_desc || !p) return ZE_RESULT_ERROR_INVALID_NULL_POINTER;
    if (device_desc->flags > 7 || host_desc->flags > 15) return ZE_RESULT_ERROR_INVALID_ENUMERATION;
    struct allocation a = {
        .size = size, .alignment = alignment, .type = ZE_MEMORY_TYPE_SHARED, .context = context, .device = device};
    return allocate(&a, device_desc->pNext, p);
}

ze_result_t ZE_APICALL level_mem_free(ze_context_handle_t context, void *p)
{
    if (!context) return ZE_RESULT_ERROR_INVALID_NULL_HANDLE;
    if (!p) return ZE_RESULT_ERROR_INVALID_NULL_POINTER;
    return allocations_remove(p) ? ZE_RESULT_SUCCESS : ZE_RESULT_ERROR_INVALID_ARGUMENT;
}

/* The file of memory that may be exported, as the application's own descriptor. */
static ze_result_t export_file(const struct allocation *a, void *chain)
{
    ze_external_memory_export_fd_t *out = (void *)find_extension(chain, ZE_STRUCTURE_TYPE_EXTERNAL_MEMORY_EXPORT_FD);
    if (!out) return ZE_RESULT_SUCCESS;
    if (out->flags != ZE_EXTERNAL_MEMORY_TYPE_FLAG_OPAQUE_FD) return ZE_RESULT_ERROR_UNSUPPORTED_ENUMERATION;
    if (a->file < 0) return ZE_RESULT_ERROR_INVALID_ARGUMENT;
    out->fd = fcntl(a->file, F_DUPFD_CLOEXEC, 0);
    return out->fd >= 0 ? ZE_RESULT_SUCCESS : ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
}

ze_result_t ZE_APICALL level_mem_get_alloc_properties(ze_context_handle_t context, const void *p,
                                                      ze_memory_allocation_properties_t *properties,
                                                      ze_device_handle_t *device)
{
    if (!context) return ZE_RESULT_ERROR_INVALID_NULL_HANDLE;
    if (!p || !properties) return ZE_RESULT_ERROR_INVALID_NULL_POINTER;
    struct allocation a = {.type = ZE_MEMORY_TYPE_UNKNOWN, .file = -1};
    bool found = allocations_find(p, &a);
    properties->type = a.type;
    properties->id = a.id;
    properties->pageSize = found ? (uint64_t)sysconf(_SC_PAGESIZE) : 0;
    if (device) *device = a.device;
    return export_file(&a, properties->pNext);
}

ze_result_t ZE_APICALL level_mem_get_address_range(ze_context_handle_t context, const void *p, void **base,
                                                   size_t *size)
{
    if (!context) return ZE_RESULT_ERROR_INVALID_NULL_HANDLE;
    if (!p) return ZE_RESULT_ERROR_INVALID_NULL_POINTER;
    struct allocation a;
    if (!allocations_find(p, &a)) return ZE_RESULT_ERROR_INVALID_ARGUMENT;
    if (base) *base = a.base;
    if (size) *size = a.size;
    return ZE_RESULT_SUCCESS;
}
