// constant_exterior.*needs bounds.*repeat_edge.*needs bounds.*repeat_image.*needs bounds.*mirror_image.*needs bounds.*mirror_interior.*needs bounds
#include <pipe/pipe.h>

using namespace Pipe;

void conditions(const Func &f) {
    BoundaryConditions::constant_exterior(f, 0);
    BoundaryConditions::repeat_edge(f);
    BoundaryConditions::repeat_image(f);
    BoundaryConditions::mirror_image(f);
    BoundaryConditions::mirror_interior(f);
}
