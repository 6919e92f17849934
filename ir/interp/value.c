/* Values as bytes in memory: little endian, a bool is one byte, lanes one after the other. */
#include "ir/interp/value.h"

#include <string.h>

unsigned interp_lane_size(ir_type t)
{
    unsigned bits = ir_type_bits(t);
    return bits == 0 ? 8 : bits < 8 ? 1 : bits / 8; /* handles have 8 bytes */
}

uint64_t interp_value_size(ir_type t)
{
    return (uint64_t)interp_lane_size(t) * ir_type_lanes(t);
}

void interp_value_read(ir_type t, const uint8_t *bytes, uint64_t *lanes)
{
    unsigned size = interp_lane_size(t);
    for (unsigned lane = 0; lane < ir_type_lanes(t); lane++) {
        lanes[lane] = 0;
        memcpy(&lanes[lane], bytes + lane * size, size);
        if (ir_type_is_bool(t)) lanes[lane] = lanes[lane] != 0;
    }
}

void interp_value_write(ir_type t, uint8_t *bytes, const uint64_t *lanes)
{
    unsigned size = interp_lane_size(t);
    for (unsigned lane = 0; lane < ir_type_lanes(t); lane++) memcpy(bytes + lane * size, &lanes[lane], size);
}
