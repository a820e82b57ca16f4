// Pictures whose three channels lie next to each other in memory, as files and cameras have them, against pictures
// of three planes.
#pragma once

#include "apps/common/program.h"

namespace apps {

/// From a picture of bytes (x, y, c) to another, or to one of (x, y).
struct Interleaved : Program {
    enum class Kind {
        FromPlanes,  ///< planar to interleaved, each value as it is
        Brighten,    ///< interleaved to interleaved: value / 2 + 64
        ToGray,      ///< interleaved to one channel: (77 r + 150 g + 29 b) / 256
    };
    explicit Interleaved(Kind kind);
    void schedule_by_hand(const dsl::Target &target) override;
    void schedule_for_gpu(const dsl::Target &target) override;

    Kind kind;
    dsl::ImageParam input;
    dsl::Func out{"out"};
    dsl::Var x{"x"}, y{"y"}, c{"c"}, yo{"yo"}, yi{"yi"};
};

}  // namespace apps
