/* Whole files. */
#pragma once

#include <fusiond/fusiond.h>

/* Of a regular file that fits into a message. To be freed. */
fusion_status client_file_read(const char *path, char **bytes, size_t *size);
/* Who reads it meanwhile finds the old one or the new one. */
fusion_status client_file_write(const char *path, const void *bytes, size_t size);
