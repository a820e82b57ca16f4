// Runs the chain on its test input: after 32 sums on 16 bits nothing is left to look at.
#include "apps/common/demo.h"

int main(int argc, char **argv) {
    return apps::demo(argc, argv, apps::stencil_chain_apps(), {{"stencil_chain", {}, {}}});
}
