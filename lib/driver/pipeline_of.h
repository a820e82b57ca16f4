#pragma once
// What Realizable works on.

#include <pipe/pipeline.h>

namespace Pipe::driver {

inline const Pipeline &pipeline_of(const Pipeline &pipeline) {
    return pipeline;
}
/// Of this Func alone; what it compiled is kept in the Func.
Pipeline pipeline_of(const Func &f);

}  // namespace Pipe::driver
