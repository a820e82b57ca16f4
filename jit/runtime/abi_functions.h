#pragma once
// The list of the functions that generated code calls (abi.h, gpu_abi.h), with their names as C symbols.

#include <vector>

namespace Pipe::runtime {

struct AbiFunction {
    const char *name;
    void *address;
};
const std::vector<AbiFunction> &abi_functions();
/// The name of one of them.
const char *name_of(void *address);

}  // namespace Pipe::runtime
