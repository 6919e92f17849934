/* The layout of an encoded graph: how many elements each array has.
 *   graph  [format, modules, [slot ...], [value ...], [node ...]]
 *   slot   [name, bytes, elem, lanes, usm, props, unread, image]
 *   image  [], or [width, height, row pitch, channel order, channel type, type, slices, slice pitch]
 *   props  [access scope, internal memory, no_init]
 *   value  [size, alike, number]
 *   node   [kind, name, [dependency ...], kernel | copy | fill | host]
 *   kernel [module, kernel, [[global, offset, local] by dimension], [arg ...]]
 *   arg    [kind, access, index, offset, bytes, props, image]
 *   copy   [from, from_offset, to, to_offset, bytes, rows, from_pitch, to_pitch, plane,
 *          from_slice_pitch, to_slice_pitch]
 *   fill   [to, to_offset, bytes, pattern, rows, pitch, plane, slice_pitch]
 *   host   [[arg ...]] */
#pragma once

enum {
    GRAPH_FORMAT = 5,
    GRAPH_FIELDS = 5,
    SLOT_FIELDS = 8,
    IMAGE_FIELDS = 8,
    PROPS_FIELDS = 3,
    VALUE_FIELDS = 3,
    NODE_FIELDS = 4,
    KERNEL_FIELDS = 4,
    RANGE_FIELDS = 3,
    ARG_FIELDS = 7,
    COPY_FIELDS = 11,
    FILL_FIELDS = 8,
    HOST_FIELDS = 1
};
