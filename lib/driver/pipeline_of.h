#pragma once
// The Pipeline behind a Func or Pipeline, for Realizable.

#include <pipe/pipeline.h>

namespace Pipe::driver {

inline const Pipeline &pipeline_of(const Pipeline &pipeline) {
    return pipeline;
}
/// A Pipeline with this Func as its only output; its compiled code is stored in the Func.
Pipeline pipeline_of(const Func &f);

}  // namespace Pipe::driver
