// Runs a layer of each kind on its test input.
#include "apps/common/demo.h"

int main(int argc, char **argv) {
    return apps::demo(argc, argv, apps::conv_bn_apps(),
                      {{"conv_bn_3_224_64_7_2", {}, {}},
                       {"conv_bn_64_56_64_3_1", {}, {}},
                       {"conv_bn_128_56_128_3_2", {}, {}},
                       {"conv_bn_64_56_256_1_1", {}, {}},
                       {"conv_bn_256_56_512_1_2", {}, {}}});
}
