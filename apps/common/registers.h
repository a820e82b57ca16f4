// How many sums a hand schedule can keep in vector registers.
#pragma once

#include "apps/common/dsl.h"

namespace apps {

/// Sixteen where x86 has no AVX-512, else thirty-two.
inline int vector_registers(const dsl::Target &target) {
    const bool sixteen =
        target.arch == dsl::Target::X86 && !target.has_feature(dsl::Target::AVX512);
    return sixteen ? 16 : 32;
}

}  // namespace apps
