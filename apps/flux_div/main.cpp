// Runs the fluxes on their test input.
#include "apps/common/demo.h"

int main(int argc, char **argv) {
    return apps::demo(argc, argv, apps::flux_div_apps(), {{"flux_div", {}, {}}});
}
