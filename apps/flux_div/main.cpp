// Runs the fluxes on their test input.
#include "apps/common/demo.h"

int main(int argc, char **argv) {
    return apps::demo(argc, argv, {{"flux_div", {}, {}}});
}
