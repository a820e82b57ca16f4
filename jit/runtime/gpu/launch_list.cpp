#include "jit/runtime/gpu/launch_list.h"

#include <cstring>

namespace Pipe::runtime {

namespace {

/// For as many launches memory is there at once.
constexpr size_t usual_launches = 16, usual_params = 8;
constexpr size_t value_align = 16;

}  // namespace

void LaunchList::add(GPUModule &module, const GPULaunch &launch, void *const *params) {
    if (waiting_.capacity() == 0) {
        waiting_.reserve(usual_launches);
        places_.reserve(usual_launches);
        values_.reserve(usual_launches * usual_params * 8);
        offsets_.reserve(usual_launches * usual_params);
    }
    const auto count = static_cast<size_t>(launch.params);
    const auto bytes = static_cast<size_t>(launch.param_bytes);
    const size_t begin = values_.size();
    const Place place{begin, offsets_.size()};
    values_.resize(begin + (bytes + value_align - 1) / value_align * value_align);
    const char *block = count > 0 ? static_cast<const char *>(params[0]) : nullptr;
    if (count > 0)
        std::memcpy(values_.data() + begin, block, bytes);
    for (size_t i = 0; i < count; i++)
        offsets_.push_back(begin +
                           static_cast<size_t>(static_cast<const char *>(params[i]) - block));
    places_.push_back(place);
    waiting_.push_back({&module, launch});
    params_.clear();
}

void **LaunchList::params(size_t i) {
    if (params_.empty())
        for (size_t offset : offsets_)
            params_.push_back(values_.data() + offset);
    return params_.data() + places_[i].param;
}

void LaunchList::clear() {
    waiting_.clear();
    places_.clear();
    values_.clear();
    offsets_.clear();
    params_.clear();
    frees_memory = false;
}

}  // namespace Pipe::runtime
