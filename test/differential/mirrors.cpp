// Boundary conditions of a Func that is computed in the tiles of its reader.
#include <pipe/pipe.h>

#include <functional>

#include <catch2/catch_test_macros.hpp>

#include "differential/against_reference.h"

using namespace Pipe;

namespace {

Var x("x"), y("y"), yo("yo"), yi("yi");

/// Every boundary condition that turns back or begins again.
Func bounded(int kind, const Func &f, const Region &region) {
    switch (kind) {
    case 0:
        return BoundaryConditions::mirror_interior(f, region);
    case 1:
        return BoundaryConditions::mirror_image(f, region);
    default:
        return BoundaryConditions::repeat_image(f, region);
    }
}

struct Program {
    Func source{"source"}, out{"out"};
    Program(int kind, const Buffer<int> &in, int reach) {
        source(x, y) = in(x, y) * 3 + 1;
        Func outside = bounded(kind, source, {{0, in.width()}, {0, in.height()}});
        out(x, y) = outside(x - reach, y) + 2 * outside(x + 1, y) + 3 * outside(x, y - reach) +
                    5 * outside(x, y + reach);
    }
};

Buffer<int> picture(int width, int height) {
    Buffer<int> in(width, height);
    in.fill([](int i, int j) { return (i * 37 + j * 101) % 997; });
    return in;
}

}  // namespace

// Each tile computed all rows up to its own: 380 ms instead of 4 for a picture of 3840 x 2160.
TEST_CASE("tiles need their own rows of a mirrored Func", "[differential]") {
    constexpr int width = 16, height = 96, tile = 8, reach = 2;
    struct Stores : JITUserContext {
        int count = 0;
    };
    for (const int kind : {0, 1, 2}) {
        INFO("kind " << kind);
        Program p(kind, picture(width, height), reach);
        p.out.split(y, yo, yi, tile);
        p.source.compute_at(p.out, yo).trace_stores();
        Stores stores;
        stores.handlers.custom_trace = [](JITUserContext *context, const TraceEvent *event) {
            static_cast<Stores *>(context)->count += event->event == TraceEventCode::Store;
            return 0;
        };
        Buffer<int> result(width, height);
        Pipeline(p.out).realize(&stores, result);
        const int own = width * (height / tile) * (tile + 2 * reach);
        // (Where the rows begin again, the first tile and the last one need both ends, and all between.)
        const int ends = kind == 2 ? 2 * width * height : 0;
        CHECK(stores.count <= own + ends);
    }
}

// No window may slide along a coordinate that turns back.
TEST_CASE("every strategy schedules mirrored Funcs", "[differential]") {
    for (const auto strategy : AutoscheduleOptions::strategies)
        for (const int kind : {0, 1, 2})
            for (const auto &[width, height] : {std::pair{97, 61}, {300, 9}, {5, 200}}) {
                INFO(to_string(strategy) << ", kind " << kind << ", " << width << " x " << height);
                const Buffer<int> in = picture(width, height);
                Program p(kind, in, 3), reference(kind, in, 3);
                AutoscheduleOptions options;
                options.strategy = strategy;
                options.cores = 2;
                const Target target = get_host_target().with_feature(Target::QuickCompile);
                Pipeline pipeline(p.out);
                pipeline.autoschedule(target, options);
                // Beyond the picture, too: farther than it is high.
                Buffer<int> result(2 * width, 3 * height + 5), expected = result.copy();
                pipeline.realize(result, target);
                Pipeline(reference.out).realize_reference(Realization({expected}));
                int wrong = 0;
                result.for_each_element(
                    [&](int i, int j) { wrong += result(i, j) != expected(i, j); });
                CHECK(wrong == 0);
            }
}
