/* libfusiond: modules and their kernels. Part of fusiond.h. */
#ifndef FUSIOND_MODULE_H
#define FUSIOND_MODULE_H

typedef struct fusion_kernel_arg {
    const char *name, *type; /* type as in the IR text: "ptr.global f32", "f32", "image2d.read" */
    const char *access;      /* "read", "write", "read_write", "unknown", or "" for values */
    uint64_t size;           /* bytes of a value; 0 for pointers and images */
} fusion_kernel_arg;

typedef struct fusion_kernel_info {
    const char *name, *aspects; /* aspects: names it needs, used or declared, separated by one space */
    uint32_t n_args;
    const fusion_kernel_arg *args;
    uint32_t work_group_size[3]; /* required; 0: free */
    const char *sub_group_size;  /* "", a number, "automatic", "primary" */
    const char *targets;         /* names of those that it is fixed to, separated by one space; "": it is not */
    uint32_t image;              /* kernels of one number may be in one device image, by what they require */
} fusion_kernel_info;

/* Loads a module: IR text, IR msgpack or SPIR-V (told apart by the content; docs/spirv.md), or OpenCL C, whose name
   says so (fusion_is_opencl_c) and which is compiled first, as by fusion_compile_opencl_c. name is used in messages.
   FUSION_INVALID with all findings (line by line) in the reason. */
FUSION_API fusion_status fusion_module_load(fusion_session *session, const char *name, const void *bytes, size_t size,
                                            fusion_module **module);
FUSION_API fusion_status fusion_module_load_file(fusion_session *session, const char *path, fusion_module **module);

/* The value of a specialization constant of SPIR-V. */
typedef struct fusion_constant {
    uint32_t id;    /* its SpecId */
    uint32_t bytes; /* 1 to 8, as many as its type has; a bool has 1 */
    const void *value;
} fusion_constant;

typedef struct fusion_module_options {
    size_t size;                /* FUSION_SIZED(fusion_module_options) */
    const char *sub_group_size; /* of kernels, imports and exports without one: a number as text, "automatic" or
                                   "primary"; NULL: none is set, which means "primary" */
    uint32_t n_constants;
    const fusion_constant *constants; /* the others keep the module's values */
    const char *build_options;        /* of OpenCL C, as for clBuildProgram: "-D N=4 -I include"; NULL: none */
} fusion_module_options;

/* The same with options (may be NULL). FUSION_INVALID also for constants that the module lacks, or of another size. */
FUSION_API fusion_status fusion_module_load_with(fusion_session *session, const char *name, const void *bytes,
                                                 size_t size, const fusion_module_options *options,
                                                 fusion_module **module);
FUSION_API fusion_status fusion_module_load_file_with(fusion_session *session, const char *path,
                                                      const fusion_module_options *options, fusion_module **module);
/*
 * OpenCL C to SPIR-V, by the clang of the calling user (program fusiond-clc, docs/opencl-c.md): needs no session, and
 * what was compiled before comes from a cache. source NULL: the file `name` is compiled; else size bytes that are
 * called so in messages, with includes from the current folder. build_options as in fusion_module_options. *spirv, of
 * *spirv_size bytes, is to be freed, and *log, what the compiler said, too (log may be NULL, and is set in case of
 * errors as well, if to NULL). FUSION_INVALID with the compiler's findings as reason; FUSION_IO: the
 * file cannot be read; FUSION_FEATURE_NOT_SUPPORTED: fusiond-clc is not there.
 */
FUSION_API fusion_status fusion_compile_opencl_c(const char *name, const void *source, size_t size,
                                                 const char *build_options, void **spirv, size_t *spirv_size,
                                                 char **log);
/* Is a file or source of this name OpenCL C? Its name ends in ".cl". */
FUSION_API bool fusion_is_opencl_c(const char *name);
/* One module out of n of the session: each import is what another of them exports by that name. The parts stay as they
   are and can be destroyed. FUSION_INVALID with all findings in the reason: imports that nobody exports, two exports
   or kernels of one name, other signatures, circles of calls, other sub-group sizes (docs/ir.md, "Linking"). */
FUSION_API fusion_status fusion_module_link(fusion_session *session, const char *name, fusion_module *const *modules,
                                            uint32_t n, fusion_module **module);
FUSION_API void fusion_module_destroy(fusion_module *module);
FUSION_API uint32_t fusion_module_kernel_count(const fusion_module *module);
/* NULL: out of range. */
FUSION_API const fusion_kernel_info *fusion_module_kernel(const fusion_module *module, uint32_t index);
/* A warning about its use of optional features, or of the compiler of its OpenCL C, of one line or several; NULL: there
   are no more. */
FUSION_API const char *fusion_module_warning(const fusion_module *module, uint32_t index);
/* IR text as understood; free() it. */
FUSION_API fusion_status fusion_module_text(fusion_module *module, char **text);

/* What a device makes of a kernel. */
typedef struct fusion_kernel_device_info {
    size_t size;                         /* FUSION_SIZED(fusion_kernel_device_info), set by the caller */
    uint64_t max_work_group_size;        /* the required one, where the kernel requires one */
    uint64_t local_memory_bytes;         /* of its own work-group variables, without arguments */
    uint64_t private_memory_bytes;       /* of its variables, for each work-item */
    uint32_t compile_work_group_size[3]; /* required; 0: free */
    uint32_t preferred_work_group_size_multiple;
    uint32_t max_num_sub_groups;     /* of a work-group */
    uint32_t compile_num_sub_groups; /* required, or given by both sizes; 0: neither, or the size is automatic */
    uint32_t compile_sub_group_size; /* 0: automatic; the device's for primary, and where nothing is said */
} fusion_kernel_device_info;

/* device NULL: "cpu". FUSION_NOT_FOUND: no such kernel or device. FUSION_FEATURE_NOT_SUPPORTED: the kernel requires a
   sub-group size that the device lacks. */
FUSION_API fusion_status fusion_kernel_device_get(const fusion_module *module, const char *kernel, const char *device,
                                                  fusion_kernel_device_info *info);
/* The largest sub-group when the kernel is launched with that work-group size. The last sub-group of a work-group has
   fewer work-items where the size is no multiple. FUSION_INVALID: no such work-group can be launched. */
FUSION_API fusion_status fusion_kernel_max_sub_group_size(const fusion_module *module, const char *kernel,
                                                          const char *device, uint32_t dims,
                                                          const uint64_t *work_group_size, uint32_t *size);

#endif
