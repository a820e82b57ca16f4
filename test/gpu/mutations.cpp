// Faults planted in kernels: each is reported by the emulator, or changes the output. So the emulator sees what it
// should, and no barrier, guard or element of shared memory is there in vain.
#include <functional>
#include <map>
#include <random>
#include <set>

#include <pipe/pipe.h>

#include <catch2/catch_test_macros.hpp>

#include "driver/compiler.h"
#include "ir/print.h"
#include "ir/program.h"
#include "ir/visit.h"
#include "jit/kernel.h"
#include "jit/runtime/gpu/emulator.h"

using namespace Pipe;
using ir::Stmt;
using ir::StmtOp;

namespace {

const Target emulator = Target("host-cuda_emulator-quick_compile");

/// A pipeline with a schedule, lowered, and its output.
class Example {
  public:
    Example(const std::string &name, Func out, const std::vector<int> &sizes,
            const std::vector<int> &mins = {})
        : name_(name), pipeline_(out), buffer_(sizes), expected_(sizes) {
        if (!mins.empty())
            buffer_.set_min(mins), expected_.set_min(mins);
        compiled_ =
            driver::checked(pipeline_.compiler()).compile_for(pipeline_.outputs(), emulator);
        program_ = compiled_->program();
        pipeline_.realize_reference(expected_);
    }

    const std::string &name() const { return name_; }
    const ir::Program &program() const { return program_; }

    /// What is wrong with a run of the program with this body; "" if nothing is.
    std::string fault(const Stmt &body) {
        ir::Program changed = program_;
        changed.body = body;
        const jit::Kernel kernel = jit::compile(changed, emulator);
        const BufferBase *outputs[] = {&buffer_};
        buffer_.fill(-77);
        driver::CallArguments call;
        compiled_->slots().gather(outputs, call.given);
        compiled_->slots().fill(call, true);
        runtime::emulated_device().start_counting();
        std::string error;
        kernel.run({}, call.data(), &error);
        buffer_.copy_to_host();
        int64_t redundant = 0;
        for (const runtime::EmulatorCounters &launch : runtime::emulated_device().stop_counting())
            redundant += launch.redundant();
        if (!error.empty())
            return error;
        if (redundant != redundant_ && body.get() != program_.body.get())
            return "other numbers of equal stores";
        redundant_ = redundant;
        return difference();
    }

  private:
    std::string difference() const {
        std::string text;
        buffer_.for_each_element([&](const int *at) {
            if (text.empty() && buffer_(at) != expected_(at))
                text = "an output is " + std::to_string(buffer_(at)) + " instead of " +
                       std::to_string(expected_(at));
        });
        return text;
    }

    std::string name_;
    Pipeline pipeline_;
    Buffer<int> buffer_, expected_;
    std::shared_ptr<driver::Compiled> compiled_;
    ir::Program program_;
    int64_t redundant_ = 0;
};

enum class Mutation { NoBarrier, SmallerArray, NoGuard, StoreShifted, LoadShifted, OtherThread };
constexpr Mutation all_mutations[] = {Mutation::NoBarrier,   Mutation::SmallerArray,
                                      Mutation::NoGuard,     Mutation::StoreShifted,
                                      Mutation::LoadShifted, Mutation::OtherThread};
const char *const mutation_names[] = {"a barrier deleted",
                                      "a shared array shrunk",
                                      "a guard dropped",
                                      "the index of a store shifted",
                                      "the index of a load shifted",
                                      "another dimension of threads"};

/// Makes one change of a kind at the place of that number.
class Mutated : public ir::Mutator {
  public:
    Mutated(Mutation kind, int place) : kind_(kind), left_(place) {}

    bool done() const { return left_ < 0; }
    const std::string &what() const { return what_; }

    Stmt mutate(const Stmt &s) override {
        const StmtOp op = s->op;
        if (op == StmtOp::Launch) {
            launch_ = s.get();
            Stmt now = ir::with_children(s, s->exprs, {mutate(s->stmts[0])});
            launch_ = nullptr;
            return now;
        }
        if (!launch_)
            return Mutator::mutate(s);
        if (op == StmtOp::Barrier && here(Mutation::NoBarrier, s))
            return ir::make_evaluate(ir::make_int(Int(32), 0));
        if (op == StmtOp::Allocate && s->memory != MemoryType::GPUShared)
            own_.insert(s->name);
        if (op == StmtOp::If && only_own(s->stmts[0]))
            return ir::with_children(s, s->exprs, {mutate(s->stmts[0]), s->stmts[1]});
        if (op == StmtOp::If && !s->stmts[1].defined() && here(Mutation::NoGuard, s))
            return s->stmts[0];
        Stmt now = Mutator::mutate(s);
        if (op == StmtOp::Allocate && s->memory == MemoryType::GPUShared &&
            here(Mutation::SmallerArray, s)) {
            Expr size = now->exprs[0];
            return ir::with_children(now, {size - ir::make_int(size.type(), 1)}, now->stmts);
        }
        if (op == StmtOp::Store && here(Mutation::StoreShifted, s)) {
            std::vector<Expr> exprs = now->exprs;
            exprs[1] = shifted(exprs[1]);
            return ir::with_children(now, exprs, {});
        }
        return now;
    }

    Expr mutate(const Expr &e) override {
        Expr now = Mutator::mutate(e);
        if (!launch_)
            return now;
        if (e->op == ir::Op::Load && here(Mutation::LoadShifted, e)) {
            std::vector<Expr> args = now->args;
            args[0] = shifted(args[0]);
            return ir::with_args(now, args);
        }
        if (e->op != ir::Op::Variable || kind_ != Mutation::OtherThread)
            return now;
        for (size_t d = 0; d < 3; d++)
            if (e->name == ir::thread_index(d)->name && here(Mutation::OtherThread, e))
                return ir::thread_index((d + 1) % 3);
        return now;
    }

  private:
    /// Whether it stores to arrays of single threads alone, which nobody but the thread sees: it may compute more of
    /// them than it needs.
    bool only_own(const Stmt &s) const {
        return !ir::contains_stmt(s, [&](const ir::StmtNode &n) {
            return (n.op == StmtOp::Store && !own_.count(n.name)) || n.op == StmtOp::Barrier;
        });
    }

    /// Counts the places of the kind.
    template <typename Node> bool here(Mutation kind, const Node &node) {
        if (kind != kind_ || done() || left_-- > 0)
            return false;
        what_ = ir::to_string(node);
        return true;
    }
    static Expr shifted(const Expr &index) {
        Expr one = ir::make_int(index.type().element_of(), 1);
        const int lanes = index.type().lanes();
        return index + (lanes == 1 ? one : ir::make_broadcast(one, lanes));
    }

    const Mutation kind_;
    int left_;
    const ir::StmtNode *launch_ = nullptr;
    std::set<std::string> own_;  ///< arrays of single threads
    std::string what_;
};

Var x("x"), y("y"), z("z"), xo("xo"), yo("yo"), xi("xi"), yi("yi");

/// Numbers without a pattern.
Buffer<int> random_input(const std::vector<int> &sizes) {
    Buffer<int> in(sizes);
    std::minstd_rand random(7);
    in.for_each_value([&](int &v) { v = static_cast<int>(random() % 100003); });
    return in;
}

Example pointwise() {
    Func f("f");
    Buffer<int> in = random_input({37});
    f(x) = in(x)*3 + x;
    f.gpu_tile(x, xo, xi, 8, TailStrategy::GuardWithIf);
    return {"pointwise", f, {37}};
}

Example blur() {
    Func f("f"), g("g");
    Buffer<int> in = random_input({23, 13});
    f(x, y) = in(x, y) + 5 * in(x + 1, y) + in(x + 2, y);
    g(x, y) = f(x, y) + 7 * f(x, y + 1) + f(x, y + 2);
    g.gpu_tile(x, y, xo, yo, xi, yi, 8, 4, TailStrategy::GuardWithIf);
    f.compute_at(g, xo).gpu_threads(x, y);
    return {"blur", g, {21, 11}};
}

/// a and c are not needed at the same time: c lies where a lay.
Example chain() {
    Func a("a"), b("b"), c("c"), out("out");
    Buffer<int> in = random_input({38, 5});
    a(x, y) = in(x, y) * 3 + y;
    b(x, y) = a(x, y) + 11 * a(x + 1, y);
    c(x, y) = b(x, y) + 13 * b(x + 1, y);
    out(x, y) = c(x, y) + 17 * c(x + 1, y);
    out.gpu_tile(x, y, xo, yo, xi, yi, 8, 2, TailStrategy::GuardWithIf);
    for (Func f : {a, b, c})
        f.compute_at(out, xo).gpu_threads(x, y);
    return {"chain", out, {35, 5}};
}

/// Rows of time, each of the one before: barriers in a loop.
Example steps_in_time() {
    Func f("f"), g("g");
    Buffer<int> in = random_input({40});
    RDom r(0, 37, 1, 3, "r");
    f(x, z) = in(x);
    f(r.x, r.y) = f(r.x, r.y - 1) + 3 * f(r.x + 1, r.y - 1);
    g(x) = f(x + 1, 3);
    g.gpu_tile(x, xo, xi, 8, TailStrategy::GuardWithIf);
    f.compute_at(g, xo).gpu_threads(x);
    f.update().gpu_threads(r.x);
    return {"steps in time", g, {30}};
}

/// Tiles of both factors in shared memory, one after the other.
Example product() {
    Func a("a"), b("b"), sum("sum"), out("out");
    Buffer<int> left = random_input({12, 10}), right = random_input({11, 12});
    RDom k(0, 12, "k");
    RVar ko("ko"), ki("ki");
    a(x, y) = left(x, y);
    b(x, y) = right(x, y);
    sum(x, y) = 0;
    sum(x, y) += a(k, y) * b(x, k);
    out(x, y) = sum(x, y);
    out.gpu_tile(x, y, xo, yo, xi, yi, 4, 4, TailStrategy::GuardWithIf);
    sum.compute_at(out, xo).gpu_threads(x, y);
    sum.update().split(k, ko, ki, 4).reorder(ki, x, y, ko).gpu_threads(x, y);
    a.compute_at(sum, ko).gpu_threads(x, y);
    b.compute_at(sum, ko).gpu_threads(x, y);
    return {"product", out, {11, 10}};
}

/// A histogram per block, added up.
Example histogram() {
    Func h("h"), out("out");
    Buffer<int> in = random_input({16, 5});
    RDom r(0, 16, "r");
    h(x, y) = 0;
    h(in(r, y) % 6, y) += 1;
    out(x, y) = h(x, y);
    out.gpu_blocks(y).gpu_threads(x);
    h.compute_at(out, y).gpu_threads(x);
    h.update().atomic().gpu_threads(r);
    return {"histogram", out, {5, 5}};
}

/// More elements than threads, in three dimensions.
Example volume() {
    Func f("f"), g("g");
    Buffer<int> in = random_input({13, 8, 6});
    Var zo("zo"), zi("zi");
    f(x, y, z) = in(x, y, z) + z;
    g(x, y, z) = f(x, y, z) + 3 * f(x + 2, y + 1, z + 1);
    g.gpu_tile(x, y, z, xo, yo, zo, xi, yi, zi, 4, 3, 2, TailStrategy::GuardWithIf);
    f.compute_at(g, xo).gpu_threads(x, y, z);
    return {"volume", g, {11, 7, 5}};
}

/// An array of each thread, and one in global memory for each block.
Example memories() {
    Func a("a"), b("b"), out("out");
    Buffer<int> in = random_input({48});
    a(x) = in(x)*5;
    b(x) = a(x) + 3 * a(x + 1);
    out(x) = b(x) + 7 * b(x + 1) + 11 * b(x + 2);
    out.gpu_tile(x, xo, xi, 8, TailStrategy::GuardWithIf);
    a.compute_at(out, xo).store_in(MemoryType::Heap).gpu_threads(x);
    b.compute_at(out, xi).store_in(MemoryType::Stack);
    return {"memories", out, {45}};
}

/// Vectors, of which two kernels exchange through memory of the GPU, with work of the host between.
Example two_kernels() {
    Func a("a"), b("b"), c("c");
    Buffer<int> in = random_input({37, 5});
    Var v("v");
    a(x, y) = in(x, y) + 1;
    b(x, y) = a(x, y) * 3 + x;
    c(x, y) = b(x, y) + a(x, 0);
    a.compute_root().split(x, x, v, 4, TailStrategy::GuardWithIf).vectorize(v).gpu_blocks(y);
    a.gpu_threads(x);
    b.compute_root();
    c.gpu_tile(x, y, xo, yo, xi, yi, 8, 3, TailStrategy::GuardWithIf);
    return {"two kernels", c, {37, 5}};
}

/// A row that all threads of a block read, and a number.
Example row_and_number() {
    Func row("row"), number("number"), out("out");
    Buffer<int> in = random_input({32, 7});
    row(x) = in(x, 6) * 3;
    number(y) = in(3, y) * 5;
    out(x, y) = row(x) + number(y / 4) * 7;
    out.gpu_tile(x, y, xo, yo, xi, yi, 8, 4, TailStrategy::GuardWithIf);
    row.compute_at(out, xo).gpu_threads(x);
    number.compute_at(out, xo);
    return {"row and number", out, {29, 23}, {3, 2}};
}

Example tuples() {
    Func f("f"), g("g");
    Buffer<int> in = random_input({18, 8});
    f(x, y) = Tuple(in(x, y) + 1, cast<uint8_t>(in(x, y)));
    f(x, y) = Tuple(f(x, y)[0] * 3, f(x, y)[1] + cast<uint8_t>(1));
    g(x, y) = f(x + 1, y)[0] + 1000 * cast<int>(f(x, y + 1)[1]);
    g.gpu_tile(x, y, xo, yo, xi, yi, 8, 4, TailStrategy::GuardWithIf);
    f.compute_at(g, xo).gpu_threads(x, y);
    f.update().reorder(y, x).gpu_threads(y, x);
    return {"tuples", g, {17, 7}};
}

const std::function<Example()> examples[] = {
    pointwise, blur,     chain,       steps_in_time,  product, histogram,
    volume,    memories, two_kernels, row_and_number, tuples,
};

}  // namespace

TEST_CASE("every fault that is planted in a kernel is found", "[mutations]") {
    std::map<Mutation, int> planted;
    int all = 0;
    for (const auto &make : examples) {
        Example example = make();
        REQUIRE(example.fault(example.program().body) == "");
        for (Mutation kind : all_mutations)
            for (int place = 0;; place++) {
                Mutated mutated(kind, place);
                const Stmt body = mutated.mutate(example.program().body);
                if (!mutated.done())
                    break;
                planted[kind]++, all++;
                const std::string fault = example.fault(body);
                INFO(example.name() << ": " << mutation_names[static_cast<int>(kind)] << ":\n"
                                    << mutated.what() << "\nin\n"
                                    << example.program().body);
                CHECK(fault != "");
            }
    }
    CHECK(all >= 200);
    for (Mutation kind : all_mutations)
        CHECK(planted[kind] > 5);
}
