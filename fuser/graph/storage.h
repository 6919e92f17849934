/* Where a buffer of a launch lives. */
#pragma once

enum fuser_storage {
    FUSER_STORAGE_MEMORY,
    FUSER_STORAGE_PRIVATE, /* in variables of the work-item: registers */
    FUSER_STORAGE_LOCAL,   /* in an array of the work-group */
    FUSER_STORAGE_NOWHERE, /* the launch reads nothing of it, as each load took what was stored before */
};
