/* Status codes of fusiond: the same numbers on the wire, in the library and in the tools. */
#ifndef FUSIOND_STATUS_H
#define FUSIOND_STATUS_H

#ifdef __cplusplus
extern "C" {
#endif

typedef enum fusion_status {
    FUSION_SUCCESS = 0,
    FUSION_INVALID = 1,               /* the call, graph or message contradicts itself (SYCL errc::invalid) */
    FUSION_KERNEL_NOT_SUPPORTED = 2,  /* require_fusion cannot be met, or the device lacks what a kernel needs
                                         (SYCL errc::kernel_not_supported) */
    FUSION_FEATURE_NOT_SUPPORTED = 3, /* the device or service lacks the feature (SYCL errc::feature_not_supported) */
    FUSION_NOT_FOUND = 4,             /* no such kernel, module, buffer, handle, file */
    FUSION_OUT_OF_MEMORY = 5,         /* memory, or a limit of the session; the reason has the numbers */
    FUSION_PROTOCOL = 6,              /* malformed or oversized message; the connection is closed */
    FUSION_VERSION = 7,               /* no common protocol version */
    FUSION_CONNECTION = 8,            /* no service, or it has gone */
    FUSION_COMPILER = 9,              /* the compiler process died, ran out of time, or reported an internal error */
    FUSION_EXECUTOR = 10,             /* the session's executor died; memory keeps its contents so far */
    FUSION_KERNEL_FAULT = 11,         /* a kernel accessed memory it must not; the executor was restarted */
    FUSION_TIMEOUT = 12,              /* a time limit passed: the kernel's, or the one given to a wait */
    FUSION_BUSY = 13,                 /* the object is in use; or not complete yet (poll) */
    FUSION_IO = 14,                   /* reading or writing a file failed */
    FUSION_INTERNAL = 15,             /* a defect of fusiond */
    FUSION_LOST = 16,                 /* contents that only a device had are lost with its executor; told once */
    FUSION_CANCELLED = 17,            /* somebody asked for that */
    FUSION_STATUS_COUNT
} fusion_status;

/* A short fixed name: "invalid", "kernel_not_supported" ... Never NULL. */
#if defined(__GNUC__)
__attribute__((visibility("default")))
#endif
const char *
fusion_status_name(fusion_status status);

#ifdef __cplusplus
}
#endif
#endif
