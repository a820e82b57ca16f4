// Runs the layer on its test input.
#include "apps/common/demo.h"

int main(int argc, char **argv) {
    return apps::demo(argc, argv, apps::conv_layer_apps(), {{"conv_layer", {}, {}}});
}
