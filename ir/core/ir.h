/*
 * The kernel language: SSA values in structured control flow. docs/ir.md is its reference.
 *
 * A module owns everything in it: all objects live in the module's arena and go with
 * ir_module_free(). Nothing here is thread-safe; different modules may be used by different threads.
 * Functions that allocate end the process when memory is out unless they say otherwise: limits on
 * what a stranger may make us allocate belong to the readers (ir/text/parse/parse.h, ir/msgpack/codec.h).
 */
#pragma once

#include "ir/core/builder.h"
#include "ir/core/clone.h"
#include "ir/core/edit.h"
#include "ir/core/layout.h"
#include "ir/core/module.h"
#include "ir/core/module_aspects.h"
#include "ir/core/objects.h"
#include "ir/core/value.h"
