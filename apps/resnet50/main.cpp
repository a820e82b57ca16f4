// Runs the network on its test input: the weights are made up, and so is what it sees.
#include "apps/common/demo.h"

int main(int argc, char **argv) {
    return apps::demo(argc, argv, apps::resnet50_apps(), {{"resnet50", {}, {}}});
}
