#pragma once
// What identifies the algorithm of a pipeline outside of the process: its definitions as the user
// wrote them. The Funcs that in(), clone_in() and rfactor() add belong to the schedule.

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "language/contents.h"
#include <pipe/func.h>

namespace Pipe::language {

/// One Func, by what does not depend on the process.
struct FuncSignature {
    /// The user's name, if no other Func of the pipeline has it; else "#3": its position.
    std::string name;
    std::vector<std::string> dimensions;  ///< names; "#0" for those that the user did not name
    std::vector<std::string> types;       ///< one per value
    uint64_t definition = 0;              ///< hash of all definitions
    bool operator==(const FuncSignature &) const = default;
};

struct Algorithm {
    std::vector<FuncSignature> funcs;  ///< producers before consumers, in order of use
    std::vector<std::string> outputs;  ///< names
    /// The Funcs, and the Params and images that they use, in order of use.
    std::vector<std::shared_ptr<const FuncContents>> contents;
    std::vector<std::shared_ptr<const ParamContents>> params;
    std::vector<std::shared_ptr<const ImageContents>> images;

    uint64_t fingerprint() const;
    const FuncSignature *find(const std::string &name) const;
};

/// Hashes depend on the definitions alone: neither on addresses, nor on the names of Params, images
/// and RDoms, nor on those that Pipe generates, nor on schedules and source lines.
Algorithm algorithm_of(const std::vector<Func> &outputs);

/// What differs between two algorithms: "Func 'blur' has another definition". "" if nothing does.
std::string difference(const Algorithm &before, const Algorithm &now);

/// The definition of a stage before rfactor().
const Stage &unfactored(const FuncContents &func, size_t stage);
/// Whether Pipe made this name up: it then differs from process to process.
bool is_generated(const std::string &name);
/// The name of a dimension or RVar outside of the process: its own, or its position, "#1".
std::string portable_name(const std::string &name, size_t position);

}  // namespace Pipe::language
