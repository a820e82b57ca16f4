// Pipelines in, graphs out: as they are frozen, and with inlined Funcs in their consumers.

#include <catch2/catch_message.hpp>
#include <catch2/catch_test_macros.hpp>

#include <pipe/pipe.h>

#include "language/freeze.h"
#include "support/golden.h"

using namespace Pipe;

namespace {

/// What a graph can contain: an ImageParam and a Buffer, a Param, a requirement, a Tuple, updates over RDoms of
/// which one has a predicate, and a Func without a schedule.
struct Histogram {
    Var x{"x"}, y{"y"};
    ImageParam input{UInt(8), 2, "input"};
    Buffer<float> weights{256, "weights"};
    Param<float> gain{"gain"};
    Func gray{"gray"}, histogram{"histogram"}, extremes{"extremes"}, out{"out"};

    Histogram() {
        RDom r(0, input.width(), 0, input.height(), "r"), s(0, 256, "s");
        r.where(input(r.x, r.y) > 0);
        gray(x, y) = cast<float>(input(x, y)) / 255.0f;
        histogram(x) = 0;
        histogram(cast<int>(input(r.x, r.y))) += 1;
        extremes() = Tuple(Expr(0), Expr(255));
        extremes() = Tuple(max(extremes()[0], histogram(s)), min(extremes()[1], histogram(s)));
        out(x, y) = gray(x, y) * gain + weights(clamp(histogram(x) - extremes()[1], 0, 255));
        histogram.compute_root();
        extremes.compute_root();
    }

    language::Frozen frozen() const {
        return language::freeze({out}, get_host_target(), {{input.width() <= 4096, {}}});
    }
};

}  // namespace

TEST_CASE_METHOD(Histogram, "graph of a histogram", "[golden]") {
    CHECK_GOLDEN("graph/frozen.txt", graph::to_string(frozen().graph));
}

TEST_CASE_METHOD(Histogram, "graph in which Funcs without a schedule are inlined", "[golden]") {
    const language::Frozen f = frozen();
    CHECK_GOLDEN("graph/inlined.txt", graph::to_string(graph::inline_funcs(f.graph, f.schedule)));
}
