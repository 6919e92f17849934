/*
 * Saved executables: what finalize made, as a file or as bytes, for other sessions, processes and machines. Part of
 * fusiond.h.
 */
#ifndef FUSIOND_SAVED_H
#define FUSIOND_SAVED_H

#ifdef __cplusplus
extern "C" {
#endif

/*
 * A saved executable is a bundle (docs/bundles.md): graph, modules, options, and the code of its launches for the
 * processors that the service makes code for. It has no contents of memory. Where it is loaded, the graph is planned
 * again, and a launch takes the code that was saved where that is of this very launch, for an instruction set that the
 * processor has, and called as this version calls code; others are compiled, as when a graph is finalized. So it
 * computes the same everywhere, and files of strangers are as safe as kernels of strangers: compilers and executors
 * read them, in their confines. Nothing of a GPU's code is saved.
 */

/* Waits for the code of all launches, whatever the tier; free() the bytes. The modules that the graph uses have to be
   there still, else FUSION_NOT_FOUND. FUSION_INVALID: a node runs in this process (a host task, a copy with memory of
   the process, packets), or is a graph that is finalized by itself. */
FUSION_API fusion_status fusion_exec_save(fusion_exec *exec, void **bytes, size_t *size);
/* The same into a file. Who opens the path finds the old file or the whole new one. FUSION_IO. */
FUSION_API fusion_status fusion_exec_save_file(fusion_exec *exec, const char *path);

/* An executable like any other, with modules and memory of its own: a buffer, image or shared USM allocation for each
   that the graph used, by name (fusion_exec_memory()), contents 0. They go when the executable is destroyed; destroying
   one of them before, and rebinding, are fine. Nodes are those of the saved graph, with the nodes of graphs inside it
   in their places. name is for messages; NULL: "executable". options NULL: those that it was finalized with, else these
   in their place: another device, say. The bytes are not needed afterwards. FUSION_INVALID: they are no saved
   executable, or damaged; FUSION_VERSION: another version of fusiond saved it, in a form that this one does not read.
 */
FUSION_API fusion_status fusion_exec_load(fusion_session *session, const char *name, const void *bytes, size_t size,
                                          const fusion_finalize_options *options, fusion_exec **exec);
FUSION_API fusion_status fusion_exec_load_file(fusion_session *session, const char *path,
                                               const fusion_finalize_options *options, fusion_exec **exec);

/* Memory that an executable uses, loaded or not. */
typedef struct fusion_exec_memory_info {
    size_t size;           /* FUSION_SIZED(fusion_exec_memory_info), set by the caller */
    const char *name;      /* lives as long as the executable */
    fusion_buffer *buffer; /* one of these three; all NULL where it was destroyed */
    fusion_image *image;
    void *pointer;
    uint64_t bytes;
    fusion_type type; /* of a buffer, */
    uint64_t count;   /* and its elements */
    bool reads, writes;
    bool internalized; /* it never has memory */
} fusion_exec_memory_info;
/* By number, from 0 on. FUSION_NOT_FOUND: there are no more. */
FUSION_API fusion_status fusion_exec_memory(const fusion_exec *exec, uint32_t index, fusion_exec_memory_info *info);
/* The buffer of that name; NULL where there is none. */
FUSION_API fusion_buffer *fusion_exec_buffer(const fusion_exec *exec, const char *name);

#ifdef __cplusplus
}
#endif

#endif
