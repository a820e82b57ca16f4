#pragma once
// The environment variables, all in one table (env.cpp), and the only calls of getenv.

#include <cstdint>
#include <span>
#include <string>

namespace Pipe::support {

/// One variable, as described to users.
struct EnvVariable {
    const char *name;
    const char *otherwise;  ///< the default, in words
    const char *meaning;
    bool for_tests;  ///< read by Pipe's own tests only
};

std::span<const EnvVariable> env_variables();

/// The value of a variable of the table; "" if it is not set. InternalError for any other name. The
/// first call prints one line on standard error if unknown variables PIPE_* are set.
std::string env(const char *name);

/// The variable as an integer; `otherwise` if it is not set or not a number.
int64_t env_int(const char *name, int64_t otherwise);

/// The directory named by PIPE_DUMP, created if necessary; "" if nothing is to be written.
/// RuntimeError if it cannot be created.
std::string dump_folder();

/// The user's folder for what Pipe can make again: $XDG_CACHE_HOME/pipe, or ~/.cache/pipe; "" if there is none.
std::string cache_folder();

/// Where linked GPU programs are kept: the folder PIPE_GPU_CACHE, or the user's cache folder; ""
/// if none is to be kept.
std::string gpu_cache_folder();

/// The warning about unknown variables in the environment `block` (null-terminated, "NAME=value");
/// "" if there are none.
std::string unknown_variables(const char *const *block);

}  // namespace Pipe::support
