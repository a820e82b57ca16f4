// The applications for tests of schedules, which need not see what differs from another one in numbers alone.
#pragma once

#include "apps/common/arrays.h"

#include <set>
#include <string>
#include <vector>

namespace app_test {

/// All but most layers of ResNet-50 (of which remain those with and without a stride, 1x1, 3x3 and 7x7) and half of the
/// multigrid cycles (of which remain one that only smooths first, one W, and one in 3-D).
inline std::vector<const apps::App *> distinct_apps() {
    static const std::set<std::string> chosen = {
        "conv_bn_3_224_64_7_2",   "conv_bn_64_56_64_3_1", "conv_bn_128_56_128_3_2",
        "conv_bn_512_28_128_1_1", "multigrid_2d_v_4_4_4", "multigrid_2d_v_10_0_0",
        "multigrid_2d_w_4_4_4",   "multigrid_3d_v_4_4_4"};
    std::vector<const apps::App *> result;
    for (const apps::App &app : apps::registry()) {
        const bool in_family = app.name.starts_with("conv_bn") || app.name.starts_with("multigrid");
        if (!in_family || chosen.count(app.name))
            result.push_back(&app);
    }
    return result;
}

}  // namespace app_test
