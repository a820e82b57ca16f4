#include "apps/flux_div/flux_div.h"

#include "apps/common/gpu.h"

namespace apps {
using namespace dsl;

FluxDiv::FluxDiv() : phi(Float(64), 4, "phi") {
    Expr sum = phi(x, y, z, k);
    for (int d = 0; d < 3; ++d) {
        const std::string direction = "_" + std::to_string(d);
        Func f1("face" + direction), f2("flux" + direction), diff("difference" + direction);
        // the element that lies so many cells further along direction d
        auto along = [&](int cells) {
            return phi(x + (d == 0 ? cells : 0), y + (d == 1 ? cells : 0), z + (d == 2 ? cells : 0),
                       k);
        };
        f1(x, y, z, k) =
            (along(-2) + Expr(7.0) * (along(-1) + along(0)) + along(1)) * Expr(1.0 / 12);
        f2(x, y, z, k) = Expr(2.0) * f1(x, y, z, k) * f1(x, y, z, 2 + d);
        const Expr next = f2(x + (d == 0 ? 1 : 0), y + (d == 1 ? 1 : 0), z + (d == 2 ? 1 : 0), k);
        diff(x, y, z, k) = next - f2(x, y, z, k);
        sum += diff(x, y, z, k);
        face.push_back(f1);
        flux.push_back(f2);
        difference.push_back(diff);
    }
    out(x, y, z, k) = sum;

    inputs = {phi};
    for (int d = 0; d < 3; ++d)
        stages.insert(stages.end(), {face[d], flux[d], difference[d]});
    stages.push_back(out);
}

// Slabs of planes in parallel; within a slab all five components of a plane together, whose fluxes
// along z slide from plane to plane and along y from row to row.
void FluxDiv::schedule_by_hand(const Target &target) {
    const int vec = target.natural_vector_size(Float(64));
    out.bound(k, 0, 5)
        .split(z, zo, zi, 8)
        .reorder(x, k, y, zi, zo)
        .unroll(k)
        .vectorize(x, vec)
        .parallel(zo);
    flux[0].compute_at(out, y).reorder(x, k, y, z).vectorize(x, vec);
    flux[1].store_at(out, zi).compute_at(out, y).reorder(x, k, y, z).vectorize(x, vec);
    flux[2].store_at(out, zo).compute_at(out, zi).reorder(x, k, y, z).vectorize(x, vec);
}

// A thread computes all five components of a cell: they share the velocities.
void FluxDiv::schedule_for_gpu(const Target &) {
    out.bound(k, 0, 5);
    GPUKernel{out, x, y, {z}}.schedule({.width = 32, .height = 8}, {k});
}

}  // namespace apps
