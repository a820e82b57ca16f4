// What tiles of fused stages store, against closed forms.
#include "apps/common/footprint.h"
#include "apps/interpolate/interpolate.h"
#include "apps/unsharp/unsharp.h"
#include "test/apps/support.h"

using apps::Extents;

TEST_CASE("tiles of unsharp mask store the window of the second blur") {
    for (const auto &[width, height] : {std::pair{64, 8}, std::pair{30, 7}}) {
        apps::Unsharp p;
        const std::vector<Extents> stored = apps::footprints(
            app_test::app_named("unsharp"), p,
            {p.masked, width, height, {p.blury, p.blurx, p.sharpen}, {}}, {200, 40});
        CHECK(stored[0] == Extents{width + 4, height, 3});
        CHECK(stored[1] == Extents{width, height, 3});
        CHECK(stored[2] == Extents{width, height, 3});
    }
}

// n samples with their first at an even place are interpolated from n / 2 + 1 coarser ones.
TEST_CASE("tiles of a pyramid are halved from level to level") {
    apps::Interpolate p(4);
    const std::vector<Extents> stored =
        apps::footprints(app_test::app_named("interpolate"), p,
                         {p.normalized,
                          64,
                          32,
                          {p.filled[0], p.upy[0], p.filled[1], p.upy[1], p.filled[2]},
                          {p.upx[0], p.upx[1]}},
                         {256, 128});
    CHECK(stored[0] == Extents{64, 32, 4});
    CHECK(stored[1] == Extents{64 / 2 + 1, 32, 4});
    CHECK(stored[2] == Extents{64 / 2 + 1, 32 / 2 + 1, 4});
    CHECK(stored[3] == Extents{64 / 4 + 1, 32 / 2 + 1, 4});
    CHECK(stored[4] == Extents{64 / 4 + 1, 32 / 4 + 1, 4});
}
