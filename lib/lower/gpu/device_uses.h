#pragma once
// insert_device_uses: inserts `use` statements, at which the run time copies a buffer between host and device if the other
// side has newer elements, before each launch and each host statement that accesses the buffer.
//
//     launch f.s0 .. { f[..] = in[..] }            use in on device (read)
//     for y { out[..] = f[..] }                    use f on device (write)
//                                            =>    launch f.s0 ..
//                                                  use f on host (read)
//                                                  use out on host (overwrite)
//                                                  for y { out[..] = f[..] }
//
// The run time copies where the other side has newer elements. An Allocate that only kernels access is marked
// (on_device), and gets no memory of the host. What is memoized is copied to the host before the cache takes it.

#include <set>
#include <string>

#include "ir/stmt_node.h"

namespace Pipe::lower {

/// \param overwritten  outputs of which what they held before is not needed, with the stage that stores all of it
///                     ("out.s0")
/// \param arguments    buffers that may have memory on a device anyway: accesses by the host alone are told of, too
ir::Stmt insert_device_uses(const ir::Stmt &s,
                            const std::set<std::pair<std::string, std::string>> &overwritten,
                            const std::set<std::string> &arguments = {});

}  // namespace Pipe::lower
