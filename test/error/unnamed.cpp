// Funcs, Vars and images that the user gave no name: messages tell them apart.
#include <pipe/pipe.h>

#include "test/support/require_message.h"

using namespace Pipe;

namespace {

struct Unnamed {
    Var a, b, ao, ai;
    Func f, g;
    RDom r{0, 4};
    ImageParam in{Int(32), 2};
    Unnamed() {
        f(a, b) = a + b;
        g(a, b) = f(a, b) + f(a, b + 1);
    }
    void require(const std::function<void()> &misuse, const std::vector<std::string> &parts) {
        require_message<CompileError>(misuse, parts);
    }
    void require_compiling(const std::vector<std::string> &parts) {
        require([&] { g.compile_jit(); }, parts);
    }
};

}  // namespace

TEST_CASE_METHOD(Unnamed, "definitions without names", "[error][names]") {
    Func h;
    Var c;
    require([&] { h(a, a) = a; }, {"two arguments"});
    require([&] { h(a) = a + c; },
            {"Var '" + c.name() + "'", "not one of the arguments (" + a.name() + ")"});
    require([&] { f(a) += 1; }, {"1 argument"});
    require([&] { f(a, b) += Expr(c); }, {"'" + c.name() + "'"});
    require([&] { h(a) = f(a); }, {"f"});
    require([&] { h(a) = f(a, b, _, _); }, {"f"});
    require([&] { h(a) = in(a); }, {"1 argument"});
    require([&] { h(a, _, _) = in(_, _); }, {"_"});
    require([&] { h(a, b) = in(a, _, b, _); }, {"The call of image"});
    require([&] { h(_, a, _) = a; }, {"_"});
    require([&] { h(a) = r; }, {"RDom"});
    require([&] { f.update(0); }, {"update"});
    require([&] { f.in(std::vector<Func>{}); }, {"empty"});
    require([&] { f(a, b) += r, f.update(0).rfactor(r, a); }, {"rfactor"});
}

TEST_CASE_METHOD(Unnamed, "inputs without names", "[error][names]") {
    Func h;
    auto require_run = [&](const std::vector<std::string> &parts) {
        require_message<RuntimeError>([&] { h.realize({9}); }, parts);
    };
    SECTION("Params without values") {
        Param<int> first, second;
        const std::string at_params = line(-1u);
        h(a) = first + second;
        require_run({"Param 'p", "' at " + at_params + " has no value"});
        first.set(1);
        require_run({"Param 'p", "' at " + at_params + " has no value"});
    }
    SECTION("a Param out of its range") {
        Param<uint8_t> gain(3, 0, 10);
        const std::string at_gain = line(-1u);
        gain.set(11);
        h(a) = a + gain;
        require_run({"' at " + at_gain + " is 11, but its range is 0 to 10"});
        require([&] { gain.set_range(0, 300); }, {"Param 'p", "' at " + at_gain, "300"});
        require_message<RuntimeError>([&] { gain.set(300); }, {"' at " + at_gain, "300"});
    }
    SECTION("a Buffer that is too small") {
        Buffer<int> first(4), second(20);
        h(a) = first(a) + second(a);
        require_run({"Input buffer", " (" + line(-1u) + ") is read from 0 to 8"});
    }
    SECTION("an ImageParam that is too small") {
        ImageParam image(Int(32), 1);
        const std::string at_image = line(-1u);
        image.set(Buffer<int>(4));
        h(a) = image(a);
        require_run({"Input image", " (" + at_image + ") is read from 0 to 8"});
    }
    SECTION("inputs with names") {
        Buffer<int> small(4, "small");
        h(a) = small(a);
        require_run({"Input small is read from 0 to 8"});
    }
}

TEST_CASE_METHOD(Unnamed, "directives without names", "[error][names]") {
    SECTION("of loops") {
        require([&] { f.split(ao, a, ai, 4); }, {"split"});
        require([&] { f.reorder(a, a); }, {"twice"});
        require([&] { f.parallel(ai); }, {"parallel", ai.name(), a.name() + ", " + b.name()});
        require([&] { f.vectorize(a, 0); }, {"vectorize"});
    }
    SECTION("of two loops") {
        require([&] { f.vectorize(a).parallel(b).fuse(a, b, ai); }, {"cannot have both"});
    }
    SECTION("of storage") {
        require([&] { f.reorder_storage({a, a}); }, {"twice"});
        require([&] { f.reorder_storage({a, ai}); }, {"reorder_storage"});
        require([&] { f.fold_storage(ai, 4); }, {"fold_storage"});
        require([&] { f.align_storage(ai, 4); }, {"align_storage"});
        require([&] { f.bound(ai, 0, 4); }, {"bound"});
        require([&] { f.bound(a, Expr(), 4); }, {"bound"});
        require([&] { f.memoize(EvictionKey(cast<float>(0))); }, {"not an integer"});
        require([&] { f.memoize(EvictionKey(Expr(a))); }, {"memoize"});
    }
    SECTION("of levels") {
        Func other;
        other(a) = a;
        SECTION("a loop that is not there") {
            f.compute_at(g, ai);
            require_compiling({"has no loop", "innermost first"});
        }
        SECTION("a Func that is not there") {
            f.compute_at(other, a);
            require_compiling({"not part of the pipeline"});
        }
        SECTION("an extra Func in a prefetch") {
            g.prefetch(other, a, a, 2);
            require_compiling({"prefetch", "not part of the pipeline"});
        }
    }
    SECTION("of loops that are shared") {
        require([&] { f.compute_with(g, ai); }, {"compute_with", "no loop"});
        require(
            [&] {
                f.compute_with(g, b, {{a, LoopAlignStrategy::AlignStart}});
            },
            {"cannot be aligned"});
    }
}
