#pragma once
// What a Callable holds.

#include <memory>
#include <string>
#include <vector>

#include "driver/compiled.h"
#include <pipe/callable.h>

namespace Pipe::driver {

struct CallableContents {
    std::string name;  ///< of the pipeline, and where it was defined: for messages
    std::shared_ptr<Compiled> compiled;
    JITHandlers handlers;
    std::shared_ptr<jit::Profile> profile;  ///< the Pipeline's
    std::vector<Argument> arguments;  ///< the inputs as the user listed them, then the outputs
    /// Per slot of the kernel: which of the arguments it is given; -1: the Buffer that is bound.
    std::vector<int> argument_of_slot;
};

/// CompileError where `inputs` lacks something that the pipeline uses, or describes it wrongly.
std::shared_ptr<const CallableContents> make_callable(std::shared_ptr<Compiled> compiled,
                                                      const std::vector<Argument> &inputs,
                                                      const JITHandlers &handlers,
                                                      std::shared_ptr<jit::Profile> profile);

/// Runs it: Callable::operator().
int run_callable(const CallableContents &callable, JITUserContext *context,
                 const detail::CallValue *values, size_t count);

/// The Params and ImageParams among the slots.
std::vector<Argument> input_arguments(const Slots &slots);

}  // namespace Pipe::driver
