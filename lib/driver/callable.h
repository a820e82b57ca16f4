#pragma once
// The contents of a Callable.

#include <memory>
#include <string>
#include <vector>

#include "driver/compiled.h"
#include <pipe/callable.h>

namespace Pipe::driver {

struct CallableContents {
    std::string name;  ///< of the pipeline, and the location of its definition: for messages
    std::shared_ptr<Compiled> compiled;
    JITHandlers handlers;
    std::shared_ptr<runtime::Profile> profile;  ///< shared with the Pipeline
    std::vector<Argument> arguments;  ///< the inputs in the user's order, followed by the outputs
    /// Per slot of the kernel: the index of its argument; -1: the Buffer that is bound.
    std::vector<int> argument_of_slot;
};

/// CompileError if `inputs` lacks an argument that the pipeline uses, or describes it incorrectly.
std::shared_ptr<const CallableContents> make_callable(std::shared_ptr<Compiled> compiled,
                                                      const std::vector<Argument> &inputs,
                                                      const JITHandlers &handlers,
                                                      std::shared_ptr<runtime::Profile> profile);

/// Runs it: Callable::operator().
int run_callable(const CallableContents &callable, JITUserContext *context,
                 const detail::CallValue *values, size_t count);

/// The Params and ImageParams among the slots.
std::vector<Argument> input_arguments(const Slots &slots);

}  // namespace Pipe::driver
