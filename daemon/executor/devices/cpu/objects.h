/* What compilers have made of kernels, loaded into this process: code, or, where there is none, the kernel itself,
   which runs in batches. */
#pragma once

#include "fuser/cpu/abi/kernel_abi.h"
#include "ir/base/error.h"

struct batch;
struct ir_function;
struct ir_module;

struct object {
    kernel_entry *entry; /* code; NULL: there is none */
    const struct kernel_object_info *info;
    const struct ir_function *kernel; /* without code */
    struct batch *batch;
    /* private to objects.c */
    struct object *next;
    void *library;
    struct ir_module *module;
    int fd;
    unsigned long device, inode;
    unsigned references;
};

/* Loads the object in a sealed memfd, or finds it loaded already. Takes *fd over (and sets it to -1)
   where it keeps it. name is what errors are about: "kernel add". NULL with the error. */
struct object *objects_load(int *fd, const char *name, struct error *e);
void objects_release(struct object *object); /* NULL is fine */
