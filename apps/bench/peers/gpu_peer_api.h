// How pipe_gpu talks to a library of peers for GPUs, in addition to what peer_api.h declares, of which such a library has
// all but pipe_peer_set_threads and pipe_peer_run.
#pragma once

#include "apps/bench/peers/peer_api.h"

extern "C" {

/// A variant with its arrays in the memory of the device.
struct PeerRun;

/// Copies the inputs to the device, and the output, too, whose memory there may hold another variant's result. The arrays
/// must live until pipe_peer_finish. The device is that of the variable HL_GPU_DEVICE, as for Pipe. Null when something
/// went wrong.
PeerRun *pipe_peer_prepare(int index, const PeerArray *inputs, int count, const PeerArray *out);

/// Runs the variant and waits for the device; 0 when all went well.
int pipe_peer_run_prepared(PeerRun *run);

/// Copies the output to its array, if it is wanted, and frees everything; 0 when all went well.
int pipe_peer_finish(PeerRun *run, bool copy);
}
