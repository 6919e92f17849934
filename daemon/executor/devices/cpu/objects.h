/* What compilers have made of kernels, loaded into this process: code, or, of a kernel that is too large for any, the
   kernel itself. */
#pragma once

#include "fuser/cpu/abi/kernel_abi.h"
#include "ir/base/error.h"

struct ir_function;
struct ir_module;

struct object {
    kernel_entry *entry;                   /* code; NULL: the kernel is interpreted */
    const struct kernel_object_info *info; /* with code */
    const struct ir_function *kernel;      /* without */
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
