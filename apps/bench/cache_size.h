// The sizes of this machine's caches, for the peak measurements and for peers that take them as
// parameters.
#pragma once

#include <cstdint>
#include <fstream>
#include <string>

namespace bench {

/// Size in bytes of the first core's cache of this level, as reported by the kernel: on virtual
/// machines, the C library may report the size of a whole package.
inline int64_t cache_bytes(int level, int64_t otherwise) {
    for (int index = 0; index < 8; ++index) {
        const std::string folder =
            "/sys/devices/system/cpu/cpu0/cache/index" + std::to_string(index) + "/";
        int64_t kib = 0;
        int found = 0;
        if (std::ifstream(folder + "level") >> found && found == level &&
            std::ifstream(folder + "size") >> kib) {
            return kib << 10;
        }
    }
    return otherwise;
}

}  // namespace bench
