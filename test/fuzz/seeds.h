#pragma once
// How much the random tests try: PIPE_FUZZ_SEED is the first seed, PIPE_FUZZ_CASES how many random
// pipelines there are; of cheaper things a multiple.

#include <cstdint>
#include <vector>

#include "support/env.h"

namespace Pipe::fuzz {

struct Seeds {
    uint64_t first;
    int count;
};

constexpr int usual_pipelines = 60;

/// `per_pipeline`: cases for each random pipeline that is tried.
inline Seeds seeds(int per_pipeline = 1) {
    auto first = static_cast<uint64_t>(support::env_int("PIPE_FUZZ_SEED", 1));
    auto factor = static_cast<uint64_t>(per_pipeline);
    auto count = static_cast<int>(support::env_int("PIPE_FUZZ_CASES", usual_pipelines));
    return {first * factor, count * per_pipeline};
}

/// The same as a list to loop over.
inline std::vector<uint64_t> each_seed(int per_pipeline) {
    Seeds all = seeds(per_pipeline);
    std::vector<uint64_t> list;
    for (int i = 0; i < all.count; i++)
        list.push_back(all.first + static_cast<uint64_t>(i));
    return list;
}

/// Every n-th of these seeds, for what takes as long as several pipelines.
inline std::vector<uint64_t> every_nth_seed(int n) {
    Seeds all = seeds();
    std::vector<uint64_t> list;
    for (int i = 0; i < all.count; i += n)
        list.push_back(all.first + static_cast<uint64_t>(i));
    return list;
}

}  // namespace Pipe::fuzz
