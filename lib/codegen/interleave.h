#pragma once
// Interleaving and deinterleaving of vectors with efficient shuffles. Internal to codegen/.

#include <vector>

#include "codegen/values.h"
#include <pipe/target.h>

namespace Pipe::codegen {

/// Vectors (or scalars) of one type: their first lanes, their second lanes, and so on.
llvm::Value *interleave(Builder &b, const Target &target, const std::vector<llvm::Value *> &values);

/// Lanes channel, channel + channels, ...: `lanes` of them.
llvm::Value *channel_of(Builder &b, const Target &target, llvm::Value *interleaved, int channel,
                        int channels, int lanes);

}  // namespace Pipe::codegen
