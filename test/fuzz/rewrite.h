#pragma once
// Directives that change which Funcs there are: clone_in, rfactor, in. They come before the others.

#include "fuzz/algorithm.h"

namespace Pipe::fuzz {

/// Gives some to Funcs and images: the sources are then those of the new graph. Appends the C++ of
/// it to `text`.
void rewrite(Algorithm &algorithm, Choices &choices, std::vector<std::string> &text);

}  // namespace Pipe::fuzz
