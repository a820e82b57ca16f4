// Faults planted into lowered kernels: a barrier deleted, an array one element too small, a guard dropped, an index one
// too large. The emulator or the values must show each. (So no barrier is superfluous.)
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include <catch2/catch_test_macros.hpp>

#include "driver/compiled.h"
#include "ir/visit.h"
#include "jit/gpu/emulator.h"
#include "lower/lower.h"
#include <pipe/pipe.h>

using namespace Pipe;

namespace {

enum Mutation { BarrierDeleted, ArrayShrunk, GuardDropped, LoadShifted, StoreShifted, kinds };
const char *const names[kinds] = {"barrier deleted", "array shrunk", "guard dropped",
                                  "load shifted", "store shifted"};

Expr one_more(const Expr &e) {
    return ir::add(e, ir::make_int(e->type, 1));
}

/// Plants the `number`-th fault of the kind into the kernels of a program, and counts where it could.
class Planter : public ir::Mutator {
  public:
    Planter(Mutation kind, int number) : kind_(kind), number_(number) {}
    using Mutator::mutate;

    ir::Stmt mutate(const ir::Stmt &s) override {
        if (s->op == ir::StmtOp::Launch) {
            in_kernel_ = true;
            ir::Stmt result = Mutator::mutate(s);
            in_kernel_ = false;
            return result;
        }
        return in_kernel_ ? planted(s) : Mutator::mutate(s);
    }
    Expr mutate(const Expr &e) override {
        if (!in_kernel_ || !e.defined() || e->op != ir::Op::Load || !is_chosen(LoadShifted))
            return Mutator::mutate(e);
        const Expr index = e->args[0];
        return ir::map_children(
            e, [&](const Expr &child) { return child.same_as(index) ? one_more(child) : child; });
    }

    int places() const { return places_; }

  private:
    bool is_chosen(Mutation kind) { return kind == kind_ && places_++ == number_; }

    ir::Stmt planted(const ir::Stmt &s) {
        std::vector<Expr> exprs = s->exprs;
        switch (s->op) {
        case ir::StmtOp::Barrier:
            return is_chosen(BarrierDeleted) ? ir::make_evaluate(ir::make_int(Int(32), 0)) : s;
        case ir::StmtOp::If:
            if (s->stmts.size() == 2 && s->stmts[1].defined())
                break;
            return is_chosen(GuardDropped) ? s->stmts[0] : Mutator::mutate(s);
        case ir::StmtOp::Allocate:
            if (!is_chosen(ArrayShrunk))
                break;
            exprs.back() = ir::sub(exprs.back(), ir::make_int(exprs.back()->type, 1));
            return ir::with_children(s, exprs, s->stmts);
        case ir::StmtOp::Store:
            if (!is_chosen(StoreShifted))
                break;
            exprs[1] = one_more(exprs[1]);
            return ir::with_children(s, exprs, s->stmts);
        default:
            break;
        }
        return Mutator::mutate(s);
    }

    const Mutation kind_;
    const int number_;
    int places_ = 0;
    bool in_kernel_ = false;
};

/// A pipeline whose schedule has kernels, lowered.
class Lowered {
  public:
    Lowered(const Func &f, int width, int height)
        : target_("host-cuda_emulator"), width_(width), height_(height),
          scheduled_(driver::make_schedule({f}, settings(), nullptr)), slots_(scheduled_.inlined) {
        lower::LowerOptions options;
        options.dense = slots_.dense(0);
        options.any_size = true;
        options.shared_loops = scheduled_.shared_loops;
        program = lower::lower(scheduled_.inlined, scheduled_.frozen.schedule, target_, options);
    }

    struct Outcome {
        std::string error;
        std::vector<float> values;
        bool reported = false;
        int64_t redundant = 0;  ///< equal stores that nothing orders
        bool operator==(const Outcome &) const = default;
    };
    Outcome run(const ir::Program &what) const {
        Buffer<float> out(width_, height_);
        const jit::Kernel kernel = jit::compile(what, target_);
        driver::CallArguments call;
        const std::vector<const BufferBase *> outputs{&out};
        slots_.gather(outputs, call.given);
        slots_.fill(call, true);
        Outcome result;
        jit::emulated_device().start_counting();
        kernel.run({}, call.data(), &result.error);
        for (const jit::EmulatorCounters &c : jit::emulated_device().stop_counting())
            result.redundant += c.redundant();
        out.copy_to_host();
        result.values.assign(out.begin(), out.end());
        result.reported = !jit::emulated_device().take_reports().empty();
        return result;
    }

    ir::Program program;

  private:
    driver::Settings settings() const {
        driver::Settings result;
        result.target = target_;
        return result;
    }

    const Target target_;
    const int width_, height_;
    const driver::Scheduled scheduled_;
    const driver::Slots slots_;
};

struct Count {
    int planted = 0, found = 0, reported = 0;
};

/// Plants each fault that there is a place for; those of guards may also show as stores that are superfluous.
void plant_all(const std::string &name, const Func &f, const Buffer<float> &expected,
               Count *counts) {
    const Lowered lowered(f, expected.width(), expected.height());
    const Lowered::Outcome right = lowered.run(lowered.program);
    INFO(name << ": " << right.error);
    REQUIRE(!right.reported);
    REQUIRE(right.values == std::vector<float>(expected.begin(), expected.end()));
    for (int kind = 0; kind < kinds; kind++) {
        int places = 1;
        for (int i = 0; i < places; i++) {
            Planter planter(static_cast<Mutation>(kind), i);
            ir::Program program = lowered.program;
            program.body = planter.mutate(program.body);
            places = planter.places();
            if (i >= places)
                break;
            const Lowered::Outcome wrong = lowered.run(program);
            const bool found = wrong.reported || wrong.values != right.values ||
                               (kind == GuardDropped && wrong.redundant > right.redundant);
            INFO(names[kind] << " " << i);
            CHECK(found);
            counts[kind].planted++;
            counts[kind].found += found;
            counts[kind].reported += wrong.reported;
        }
    }
}

Var x("x"), y("y"), xo("xo"), yo("yo"), xi("xi"), yi("yi"), u("u");

Buffer<float> image(int width, int height) {
    Buffer<float> result(width, height);
    result.for_each_element(
        [&](const int *p) { result(p) = static_cast<float>((p[0] * 37 + p[1] * 101) % 251); });
    return result;
}

const TailStrategy tails[] = {TailStrategy::GuardWithIf, TailStrategy::ShiftInwards};

struct Blur {
    Func bx{"bx"}, out{"out"};
    explicit Blur(const Buffer<float> &in) {
        bx(x, y) = in(x, y) + in(x + 1, y) + in(x + 2, y);
        out(x, y) = bx(x, y) + bx(x, y + 1) + bx(x, y + 2);
    }
};

struct Chain {
    Func a{"a"}, b{"b"}, c{"c"}, out{"out"};
    explicit Chain(const Buffer<float> &in) {
        a(x, y) = in(x, y) + 1.0f;
        b(x, y) = a(x, y) + a(x + 1, y) * 2.0f;
        c(x, y) = b(x, y) + b(x, y + 1) * 3.0f;
        out(x, y) = c(x, y) + a(x + 2, y + 2) + c(x + 1, y + 1);
    }
};

}  // namespace

TEST_CASE("faults planted into kernels are found", "[mutations]") {
    const int width = 37, height = 29;
    // Not larger than what is read, so that a load of more is one outside of it.
    const Buffer<float> in = image(width + 2, height + 2);
    Count counts[kinds];
    const Buffer<float> blurred = Blur(in).out.realize_reference({width, height});
    for (TailStrategy tail : tails)
        for (int way = 0; way < 4; way++) {
            Blur f(in);
            f.out.gpu_tile(x, y, xo, yo, xi, yi, 16, 8, tail);
            if (way == 0)
                f.bx.compute_at(f.out, xo).gpu_threads(x, y);
            if (way == 1)
                f.bx.compute_root().gpu_tile(x, y, xo, yo, xi, yi, 16, 16, tail);
            if (way == 2)
                f.bx.compute_at(f.out, xo).split(x, x, u, 4, tail).unroll(u).gpu_threads(x, y);
            if (way == 3)
                f.bx.compute_at(f.out, xi);
            plant_all("blur " + std::to_string(way), f.out, blurred, counts);
        }
    const Buffer<float> chained = Chain(in).out.realize_reference({width, height});
    for (TailStrategy tail : tails)
        for (int way = 0; way < 3; way++) {
            Chain f(in);
            f.out.gpu_tile(x, y, xo, yo, xi, yi, 8, 8, tail);
            f.a.compute_at(f.out, xo).gpu_threads(x, y);
            if (way != 1)
                f.b.compute_at(f.out, xo).gpu_threads(x, y);
            if (way != 2)
                f.c.compute_at(f.out, xo).gpu_threads(x, y);
            plant_all("chain " + std::to_string(way), f.out, chained, counts);
        }
    int planted = 0;
    for (int kind = 0; kind < kinds; kind++) {
        INFO(names[kind]);
        planted += counts[kind].planted;
        REQUIRE(counts[kind].found == counts[kind].planted);
        // By the emulator alone, whatever the values are.
        if (kind == BarrierDeleted || kind == ArrayShrunk)
            REQUIRE(counts[kind].reported == counts[kind].planted);
    }
    REQUIRE(planted >= 200);
}
