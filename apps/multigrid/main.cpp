// Runs one cycle of each kind on its test problem, in three dimensions.
#include "apps/common/demo.h"

int main(int argc, char **argv) {
    return apps::demo(argc, argv, apps::multigrid_apps(),
                      {{"multigrid_3d_v_4_4_4", {}, {}},
                       {"multigrid_3d_v_10_0_0", {}, {}},
                       {"multigrid_3d_w_4_4_4", {}, {}},
                       {"multigrid_3d_w_10_0_0", {}, {}}});
}
