/* Structs of the caller that begin with their size: programs of older and newer headers have other ones. */
#pragma once

#include <fusiond/fusiond.h>

/* Up to the end of the last field that the struct had in version 0.1. */
#define CLIENT_FIRST_SIZE(type, last) (offsetof(type, last) + sizeof(((type *)0)->last))

/* own becomes what is given, as this version of the library has it. FUSION_INVALID: its size is none, or it has
   something that this version does not know. */
fusion_status client_take(void *own, size_t own_size, size_t first_size, const void *given, const char *object);
/* Fills in what the caller has allocated, but for its size. */
fusion_status client_give(const void *own, size_t own_size, size_t first_size, void *given, const char *object);

/* The same by type, of which `last` is the last field in version 0.1. */
#define CLIENT_TAKE(type, last, own, given, object)                                                                    \
    client_take((own), sizeof(type), CLIENT_FIRST_SIZE(type, last), (given), (object))
#define CLIENT_GIVE(type, last, own, given, object)                                                                    \
    client_give((own), sizeof(type), CLIENT_FIRST_SIZE(type, last), (given), (object))

/* Of structs that keep their size: what is reserved is 0. */
fusion_status client_check_reserved(const uint64_t reserved[4], const char *object);
/* NULL: all 0. Of what they say nothing is checked but that it is known. */
fusion_status client_take_submit_options(fusion_submit_options *own, const fusion_submit_options *given);
fusion_status client_take_finalize_options(fusion_finalize_options *own, const fusion_finalize_options *given);
