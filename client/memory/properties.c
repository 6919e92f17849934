/* Element types and properties. */
#include "client/memory/properties.h"

#include "client/base/error.h"

uint32_t client_type_bytes(fusion_type type)
{
    static const uint8_t bytes[] = {
        [FUSION_BYTES] = 1, [FUSION_I8] = 1,  [FUSION_I16] = 2, [FUSION_I32] = 4, [FUSION_I64] = 8, [FUSION_U8] = 1,
        [FUSION_U16] = 2,   [FUSION_U32] = 4, [FUSION_U64] = 8, [FUSION_F16] = 2, [FUSION_F32] = 4, [FUSION_F64] = 8};
    return (unsigned)type < sizeof bytes ? bytes[type] : 0;
}

struct proto_props client_props(unsigned properties)
{
    struct proto_props p = {.internal_memory = properties & FUSION_INTERNAL_MEMORY,
                            .no_init = properties & FUSION_NO_INIT};
    if (properties & FUSION_ACCESS_SCOPE_WORK_GROUP) p.access_scope = PROTO_SCOPE_WORK_GROUP;
    if (properties & FUSION_ACCESS_SCOPE_WORK_ITEM) p.access_scope = PROTO_SCOPE_WORK_ITEM;
    return p;
}

fusion_status client_check_properties(unsigned properties, const char *object)
{
    unsigned both = FUSION_ACCESS_SCOPE_WORK_GROUP | FUSION_ACCESS_SCOPE_WORK_ITEM;
    if (properties & ~(both | FUSION_INTERNAL_MEMORY | FUSION_NO_INIT))
        return client_error(FUSION_INVALID, object, "unknown property bits 0x%x", properties);
    if ((properties & both) == both)
        return client_error(FUSION_INVALID, object, "access_scope work_group and work_item exclude each other");
    return FUSION_SUCCESS;
}
