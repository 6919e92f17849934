/* libfusiond: who has the contents of memory, the host or a device. Part of fusiond.h. */
#ifndef FUSIOND_ACCESS_H
#define FUSIOND_ACCESS_H

#ifdef __cplusplus
extern "C" {
#endif

/*
 * A buffer that is not mapped may keep its contents in the memory of the device that used it last: from one submission
 * to the next nothing is copied. What the host has mapped is up to date in its memory after each submission, and what
 * it may have written is taken from there before each; on devices that use that memory themselves there is nothing to
 * copy either way. USM allocations of host and shared kind count as mapped, those of device kind never are.
 *
 * Contents that only a device has are lost with the executor that uses the device (it was killed, ran out of time, the
 * device was lost). The next submission or mapping that needs them fails with FUSION_LOST, naming the buffers; after
 * that they are what the host last saw.
 */

/* The buffer's memory in this process, the same that kernels on the processor use; the same address each time, until
   the buffer is destroyed. Waits for submissions that use the buffer. It begins at a multiple of 64 bytes, or in a
   buffer of a type and of up to 4096 bytes at one of its elements: then a kernel that accesses what lies behind the
   last element fails with FUSION_KERNEL_FAULT. Of other buffers that holds from the next multiple of 64 bytes on. */
FUSION_API fusion_status fusion_buffer_map(fusion_buffer *buffer, void **memory);
/* The same for who only reads: what the device has stays valid, and is not copied there again. */
FUSION_API fusion_status fusion_buffer_map_read(fusion_buffer *buffer, const void **memory);
/* The host is done with the memory, which it must not touch until it maps the buffer again. Waits for nothing. NULL is
   fine. */
FUSION_API void fusion_buffer_unmap(fusion_buffer *buffer);

/* Bytes that submissions of the session, and mappings, have copied, up to those that were waited for. */
typedef struct fusion_transfers {
    size_t size; /* FUSION_SIZED(fusion_transfers), set by the caller, else nothing is filled in */
    uint64_t to_device, from_device;
} fusion_transfers;
FUSION_API void fusion_session_transfers(const fusion_session *session, fusion_transfers *transfers);

#ifdef __cplusplus
}
#endif

#endif
