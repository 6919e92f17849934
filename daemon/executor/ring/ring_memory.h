/* Mapping rings. */
#pragma once

struct ring;

/* Maps the ring in the descriptor, which is closed, and checks its header. NULL with a message on stderr. */
struct ring *ring_memory_map(int fd);
