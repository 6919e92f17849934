/* libfusiond: its version, and structs that can grow. Part of fusiond.h. */
#ifndef FUSIOND_VERSION_H
#define FUSIOND_VERSION_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define FUSION_API __attribute__((visibility("default")))
#else
#define FUSION_API
#endif

/* Of this header. */
#define FUSIOND_VERSION_MAJOR 0
#define FUSIOND_VERSION_MINOR 1
#define FUSIOND_VERSION_PATCH 0
#define FUSIOND_VERSION_OF(major, minor, patch) ((uint32_t)(major)*1000000u + (minor)*1000u + (patch))
#define FUSIOND_VERSION_NUMBER FUSIOND_VERSION_OF(FUSIOND_VERSION_MAJOR, FUSIOND_VERSION_MINOR, FUSIOND_VERSION_PATCH)

/* Of the library that the program runs with, as FUSIOND_VERSION_NUMBER. */
FUSION_API uint32_t fusion_version(void);

/*
 * What stays compatible while the soname stays: a program goes on with a newer library, and with an older one as far as
 * it uses nothing new. Functions have symbol versions, so one that is missing is named when the program starts.
 *  - Structs that the caller allocates and gives alone begin with their size:
 *
 *        fusion_finalize_options options = {FUSION_SIZED(fusion_finalize_options), .mode = FUSION_ENABLE};
 *
 *    They grow at their end, never into padding. Given a smaller one, as programs of older headers have it, the library
 *    takes what it lacks as 0; of a larger one it knows the beginning, and what comes behind has to be 0, else the call
 *    fails with FUSION_INVALID: who uses something new learns that it is not there. A size of 0 counts as the one of
 *    version 0.1. Of structs that the library fills in, it fills in as much as there is room for, and sets the rest to
 *    0.
 *  - Structs that are given by value or in arrays keep their size. New fields take the place of `reserved`, which has
 * to be 0, as it is in whatever is initialized.
 *  - Structs that the library allocates grow at their end, those in arrays do not.
 */
#define FUSION_SIZED(type) .size = sizeof(type)

#ifdef __cplusplus
}
#endif
#endif
