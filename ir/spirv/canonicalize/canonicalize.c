/* The rewrites and checks in their order. */
#include "ir/spirv/canonicalize/canonicalize.h"

#include "ir/spirv/canonicalize/annotation_strings.h"
#include "ir/spirv/canonicalize/beyond_dimensions.h"
#include "ir/spirv/canonicalize/block_order.h"
#include "ir/spirv/canonicalize/bool_bits.h"
#include "ir/spirv/canonicalize/call_graph_cost.h"
#include "ir/spirv/canonicalize/constituents.h"
#include "ir/spirv/canonicalize/control_flow_cost.h"
#include "ir/spirv/canonicalize/debug_info.h"
#include "ir/spirv/canonicalize/declarations_first.h"
#include "ir/spirv/canonicalize/event_selects.h"
#include "ir/spirv/canonicalize/interfaces.h"
#include "ir/spirv/canonicalize/merge_types.h"
#include "ir/spirv/canonicalize/operand_checks.h"
#include "ir/spirv/canonicalize/pipe_extensions.h"
#include "ir/spirv/canonicalize/reservations.h"
#include "ir/spirv/canonicalize/value_types.h"
#include "ir/spirv/canonicalize/vector_selects.h"

bool spirv_canonicalize(struct spirv_words *m)
{
    if (!spirv_find_value_types(m)) return false;
    spirv_number_reservations(m);
    spirv_take_pipe_extensions(m);
    spirv_drop_debug_info(m);
    spirv_drop_annotation_strings(m);
    spirv_put_declarations_first(m);
    spirv_merge_types(m);
    spirv_order_blocks(m);
    if (!spirv_check_control_flow_cost(m) || !spirv_check_call_graph_cost(m) || !spirv_check_operands(m)) return false;
    spirv_gather_bool_bits(m);
    spirv_widen_selects(m);
    spirv_choose_events(m);
    spirv_extract_beyond_dimensions(m);
    spirv_cast_constituents(m);
    spirv_complete_interfaces(m);
    return true;
}
