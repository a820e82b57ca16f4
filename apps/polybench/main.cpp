// Runs the kernels on their test input.
#include "apps/common/demo.h"

int main(int argc, char **argv) {
    return apps::demo(argc, argv, apps::polybench_apps(),
                      {{"2mm", {}, {}}, {"gemver", {}, {}}, {"covariance", {}, {}}});
}
