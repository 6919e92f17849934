/* The strings of annotations, as variables. */
#pragma once

#include "ir/spirv/base/words.h"

/* Drops them. */
void spirv_drop_annotation_strings(struct spirv_words *m);
