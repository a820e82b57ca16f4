#pragma once
// The environment variables, all in one table (env.cpp). This is the only place that calls
// getenv.

#include <cstdint>
#include <span>
#include <string>

namespace Pipe::support {

/// One variable, as users are told of it.
struct EnvVariable {
    const char *name;
    const char *otherwise;  ///< what holds where it is not set
    const char *meaning;
    bool for_tests;  ///< read by Pipe's own tests only
};

std::span<const EnvVariable> env_variables();

/// The value of a variable of the table; "" where it is not set. InternalError for any other name.
/// The first call warns, by one line on standard error, of variables PIPE_* that are set and mean
/// nothing.
std::string env(const char *name);

/// The variable as a whole number; `otherwise` where it is not set or not a number.
int64_t env_int(const char *name, int64_t otherwise);

/// The folder that PIPE_DUMP names, made if it was not there; "" where nothing is to be written.
/// RuntimeError where it cannot be made.
std::string dump_folder();

/// Where linked GPU programs are kept: what PIPE_GPU_CACHE says, else the user's folder for caches; ""
/// where none is to be kept.
std::string gpu_cache_folder();

/// That warning for the environment `block` (null-terminated, "NAME=value"); "" if there is none.
std::string unknown_variables(const char *const *block);

}  // namespace Pipe::support
