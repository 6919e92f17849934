/* Telling the broker what GPUs there are. */
#pragma once

#include "daemon/executor/devices/devices.h"

/* The notice `gpus`: docs/protocol.md, "Broker and executor". 0, or -1 where it could not be sent. */
int describe_gpus(int connection, const struct devices_gpu *gpus, unsigned n);
