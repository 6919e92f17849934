/* Compiled code, loaded into this process. */
#pragma once

#include "daemon/executor/error.h"
#include "fuser/cpu/abi/kernel_abi.h"

struct object {
    kernel_entry *entry;
    const struct kernel_object_info *info;
    /* private to objects.c */
    struct object *next;
    void *library;
    int fd;
    unsigned long device, inode;
    unsigned references;
};

/* Loads the ELF object in a sealed memfd, or finds it loaded already. Takes *fd over (and sets it to -1)
   where it keeps it. name is what errors are about: "kernel add". NULL with the error. */
struct object *objects_load(int *fd, const char *name, struct exec_error *e);
void objects_release(struct object *object); /* NULL is fine */
