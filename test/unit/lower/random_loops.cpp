#include "unit/lower/random_loops.h"

#include <algorithm>
#include <functional>

#include "ir/intrinsics.h"
#include "ir/verify.h"
#include "support/interpret.h"

namespace Pipe::testing {

using namespace ir;

Expr number(int64_t value) {
    return make_int(Int(32), value);
}

Expr var(const std::string &name) {
    return make_variable(Int(32), name);
}
Expr less(const Expr &a, const Expr &b) {
    return make_binary(Op::LT, a, b);
}
Expr load(const std::string &buffer, const Expr &index) {
    return make_load(Int(32), buffer, index);
}
Expr clamp(const Expr &e, const Expr &lo, const Expr &hi) {
    return make_binary(Op::Max, make_binary(Op::Min, e, hi), lo);
}

namespace {

Expr tag_likely(const Expr &e) {
    return make_call(e.type(), intrinsic::likely, {e}, CallKind::Intrinsic);
}

class Generator {
  public:
    Generator(uint32_t seed, const LoopFeatures &features) : random_(seed), features_(features) {}

    LoopProgram make() {
        std::vector<Stmt> stages;
        int count = 1 + below(2);
        for (int i = 0; i < count; i++)
            stages.push_back(stage());
        program_.body = make_block(stages);
        return program_;
    }

  private:
    using Body = std::function<Stmt(const Expr &)>;

    int below(int n) { return static_cast<int>(random_() % static_cast<uint32_t>(n)); }
    bool chance(int percent) { return below(100) < percent; }
    std::string fresh(const std::string &stem) { return stem + std::to_string(names_++); }

    // Loops.

    LoopKind outer_kind() { return chance(30) ? LoopKind::Parallel : LoopKind::Serial; }

    LoopKind inner_kind() {
        if (features_.vectorized && chance(60))
            return LoopKind::Vectorized;
        if (features_.unrolled && chance(30))
            return LoopKind::Unrolled;
        return LoopKind::Serial;
    }

    /// body(v) for v in [min, min + extent), by a random loop or two.
    Stmt loops(const std::string &stem, const Expr &min, const Expr &extent, const Body &body) {
        std::string name = fresh(stem);
        Expr v = var(name);
        int style = below(4);
        if (style == 0)
            return make_for(name, min, extent, outer_kind(), body(v));
        if (style == 1 && chance(50)) {  // zero-based
            return make_for(name, number(0), extent, LoopKind::Serial, body(add(v, min)));
        }
        int factor = std::vector<int>{2, 3, 4, 8, 16, 32}[below(6)];
        Expr f = number(factor), inner = var(name + "i");
        Expr tiles = div(add(extent, number(factor - 1)), f);
        LoopKind kind = inner_kind();
        if (style < 3) {  // guarded
            Expr offset = add(mul(v, f), inner);
            Stmt guarded = make_if(less(offset, extent), body(add(min, offset)));
            return make_for(name, number(0), tiles, outer_kind(),
                            make_for(name + "i", number(0), f, kind, guarded));
        }
        Expr start = ir::min(mul(v, f), sub(extent, f));  // shifted inwards
        Stmt shifted =
            make_for(name, number(0), tiles, outer_kind(),
                     make_for(name + "i", number(0), f, kind, body(add(add(min, start), inner))));
        std::string small = fresh(stem);
        Stmt plain = make_for(small, min, extent, LoopKind::Serial, body(var(small)));
        return make_if(make_binary(Op::GE, extent, f), shifted, plain);
    }

    // Values at (x, y).

    /// A coordinate near `at`, inside [0, size).
    Expr inside(const Expr &at, const Expr &size) {
        Expr near = at;
        int style = below(6);
        if (style == 0)
            near = div(near, number(2 + below(3)));
        if (style == 1)
            near = mul(near, number(2));
        if (style == 2)
            near = mod(near, number(3));
        near = add(near, number(below(7) - 3));
        if (chance(30))
            near = tag_likely(near);
        Expr last = sub(size, number(1));
        if (chance(30))
            return ir::min(ir::max(near, number(0)), last);
        return clamp(near, number(0), last);
    }

    Expr element(const Expr &x, const Expr &y) {
        return add(mul(y, number(LoopProgram::pitch)), x);
    }

    Expr condition(const Expr &x, const Expr &y) {
        Expr at = add(chance(70) ? x : y, number(below(7) - 3));
        Op op = std::vector<Op>{Op::LT, Op::LE, Op::GT, Op::GE, Op::EQ}[below(5)];
        Expr bound = std::vector<Expr>{number(0), number(4), var("w"), sub(var("w"), number(2)),
                                       var("h")}[below(5)];
        Expr result = make_binary(op, at, bound);
        if (chance(15))
            result = make_binary(Op::EQ, mod(at, number(2 + below(3))), number(below(2)));
        if (chance(20))
            result = make_not(result);
        if (chance(30))
            result = make_binary(chance(50) ? Op::And : Op::Or, result, condition(x, y));
        return result;
    }

    Expr value(const Expr &x, const Expr &y, int depth = 0) {
        switch (depth > 3 ? below(3) : below(9)) {
        case 0:
            return load("in", element(inside(x, var("w")), inside(y, var("h"))));
        case 1:
            return add(x, mul(y, number(3)));
        case 2:
            return number(below(100) - 50);
        case 3:
            return make_select(condition(x, y), value(x, y, depth + 1), value(x, y, depth + 1));
        case 4: {  // constant exterior
            Expr at = add(x, number(below(5) - 2));
            Expr is_inside =
                make_binary(Op::And, make_binary(Op::GE, at, number(0)), less(at, var("w")));
            Expr safe = clamp(at, number(0), sub(var("w"), number(1)));
            Expr f = load("in", element(safe, inside(y, var("h"))));
            return make_select(is_inside, chance(50) ? tag_likely(f) : f, number(7));
        }
        case 5:
            return make_binary(Op::Min, value(x, y, depth + 1), value(x, y, depth + 1));
        case 6: {
            std::string name = fresh("t");
            Expr t = var(name);
            Expr body = add(t, value(x, y, depth + 1));
            return make_let(name, value(x, y, depth + 1), chance(50) ? body : mul(t, number(3)));
        }
        case 7:
            if (features_.rich_bodies)
                return make_call(
                    Int(32), intrinsic::if_then_else,
                    {less(x, number(below(8))), load("in", element(x, y)), value(x, y, depth + 1)},
                    CallKind::Intrinsic);
            [[fallthrough]];
        default:
            return make_binary(Op::Add, value(x, y, depth + 1), value(x, y, depth + 1));
        }
    }

    // Statements at (x, y).

    std::string output() {
        program_.outputs.push_back(fresh("out"));
        return program_.outputs.back();
    }

    Stmt store(const Expr &x, const Expr &y) {
        Expr predicate = chance(20) ? condition(x, y) : Expr();
        return make_store(output(), element(x, y), value(x, y), predicate);
    }

    Stmt statement(const Expr &x, const Expr &y, int depth = 0) {
        if (!features_.rich_bodies || depth > 2)
            return store(x, y);
        switch (below(12)) {
        case 0:
            return make_if(condition(x, y), statement(x, y, depth + 1), statement(x, y, depth + 1));
        case 1:
            return make_if(condition(x, y), statement(x, y, depth + 1));
        case 2: {
            std::string name = fresh("s");
            Stmt inner = make_store(output(), element(x, y), add(var(name), value(x, y)));
            return make_let(name, value(x, y), make_block({inner, statement(x, y, depth + 1)}));
        }
        case 3:
            return allocation(x, y);
        case 4:
            return ragged(x, y);
        case 5: {
            std::string sum = output();
            Op op = std::vector<Op>{Op::Add, Op::Sub, Op::Min, Op::Max}[below(4)];
            Expr old = load(sum, y), v = value(x, y);
            if (op != Op::Sub && chance(50))
                std::swap(old, v);
            return make_store(sum, y, make_binary(op, old, v),
                              chance(30) ? condition(x, y) : Expr());
        }
        case 6:
            return make_store(output(), y, value(x, y));
        case 7: {
            std::string histogram = output();
            Expr bin = mod(value(x, y), number(5));
            return make_store(histogram, bin, add(load(histogram, bin), number(1)));
        }
        case 8:
            return make_evaluate(make_call(Int(32), "log", {x, value(x, y)}, CallKind::Extern));
        case 9:
            return own_condition(x, y);
        default:
            return make_block({store(x, y), statement(x, y, depth + 1)});
        }
    }

    Stmt allocation(const Expr &x, const Expr &y) {
        std::string t = fresh("tmp");
        Stmt fill = make_store(t, number(1), value(x, y));
        std::string i = fresh("i");
        Stmt loop = make_for(i, number(2), number(3), LoopKind::Serial,
                             make_store(t, var(i), add(load(t, sub(var(i), number(1))), x)));
        Expr which = add(mod(x, number(3)), number(1));
        Stmt use = make_store(output(), element(x, y), add(load(t, which), load(t, number(4))));
        std::vector<Stmt> body{fill, loop, use};
        if (chance(30))
            body.push_back(
                make_evaluate(make_call(Int(32), "log", {load(t, number(3))}, CallKind::Extern)));
        if (chance(30))
            body.push_back(store(x, y));  // without it
        return make_allocate(t, Int(32), {number(5)}, MemoryType::Auto, make_block(body));
    }

    Stmt ragged(const Expr &x, const Expr &y) {
        std::string out = output(), i = fresh("r");
        Expr min = chance(50) ? number(1) : mod(x, number(2)), extent = mod(add(x, y), number(4));
        Expr at = element(x, y);
        Expr more = value(add(x, var(i)), y);
        Stmt body = make_store(out, at, add(load(out, at), more));
        if (chance(20))
            body = make_block(
                {body, make_evaluate(make_call(Int(32), "log", {more}, CallKind::Extern))});
        return make_for(i, min, extent, chance(80) ? LoopKind::Serial : LoopKind::Parallel, body);
    }

    /// A branch on memory that the branch changes.
    Stmt own_condition(const Expr &x, const Expr &y) {
        std::string out = output();
        Expr at = element(x, y), old = load(out, at);
        Stmt t = make_block({make_store(out, at, add(old, number(1))), statement(x, y, 2)});
        if (chance(30))
            t = make_block({t, make_evaluate(make_call(Int(32), "log", {old}, CallKind::Extern))});
        Stmt f = make_store(out, at, number(5));
        Stmt first = make_store(out, at, mod(value(x, y), number(3)));
        return make_block({first, make_if(less(old, number(1)), t, f)});
    }

    // Stages.

    Stmt stage() {
        Expr w = var("w"), h = var("h");
        if (chance(40))
            return fused();
        return loops("y", number(0), h, [&](const Expr &y) {
            return loops("x", number(0), w, [&](const Expr &x) { return statement(x, y); });
        });
    }

    /// Tiles in x; each computes what it needs of a producer, clamped to the picture.
    Stmt fused() {
        int factor = std::vector<int>{4, 8, 12}[below(3)], halo = below(3);
        std::string tile = fresh("xo"), tmp = fresh("tmp"), out = output();
        Expr f = number(factor), start = mul(var(tile), f), w = var("w");
        Expr base = sub(start, number(halo));
        std::string lo = fresh("lo"), hi = fresh("hi");
        auto body = [&](const Expr &y) {
            Expr extent = add(sub(var(hi), var(lo)), number(1));
            Stmt produce = loops("p", var(lo), extent, [&](const Expr &x) {
                return make_store(tmp, sub(x, base), value(x, y));
            });
            Expr here = ir::min(f, sub(w, start));
            Stmt consume = loops("c", start, here, [&](const Expr &x) {
                Expr sum = number(0);
                for (int d = -halo; d <= halo; d++) {
                    Expr at = clamp(add(x, number(d)), number(0), sub(w, number(1)));
                    sum = make_binary(Op::Add, sum, load(tmp, sub(at, base)));
                }
                return make_store(out, element(x, y), sum);
            });
            Stmt both = make_block({make_produce(tmp, produce), make_consume(tmp, consume)});
            both = make_let(hi, ir::min(add(start, number(factor - 1 + halo)), sub(w, number(1))),
                            both);
            both = make_let(lo, ir::max(base, number(0)), both);
            both = make_allocate(tmp, Int(32), {number(factor + 2 * halo)}, MemoryType::Auto, both);
            return make_for(tile, number(0), div(add(w, number(factor - 1)), f), outer_kind(),
                            both);
        };
        std::string y = fresh("y");
        return make_for(y, number(0), var("h"), outer_kind(), body(var(y)));
    }

    std::mt19937 random_;
    const LoopFeatures features_;
    LoopProgram program_;
    int names_ = 0;
};

}  // namespace

LoopProgram random_loops(uint32_t seed, const LoopFeatures &features) {
    return Generator(seed, features).make();
}

RunResult run(const LoopProgram &program, const Stmt &body, int w, int h) {
    VerifyOptions options;
    options.free_variables = {"w", "h"};
    options.any_buffer = options.flattened = true;
    verify(body, options);
    constexpr int64_t size = LoopProgram::pitch * LoopProgram::rows;
    std::vector<int32_t> in(size, 1 << 20);  // outside of the picture: nobody should look
    for (int y = 0; y < h; y++)
        for (int x = 0; x < w; x++)
            in[y * LoopProgram::pitch + x] = (x * 37 + y * 101) % 64 - 20;
    RunResult result;
    Interpreter interpreter;
    interpreter.bind("in", Int(32), in.data(), 0, size);
    for (const std::string &name : program.outputs) {
        auto &memory = result.outputs[name];
        memory.assign(size, -1);
        interpreter.bind(name, Int(32), memory.data(), 0, size);
    }
    interpreter.set("w", Int(32), int64_t{w});
    interpreter.set("h", Int(32), int64_t{h});
    interpreter.on_extern = [&](const std::string &, const std::vector<reference::Value> &args) {
        int64_t hash = 0;
        for (const auto &arg : args)
            hash = hash * 1000003 + arg.i;
        result.log.push_back(hash);
        return reference::Value::of_int(0);
    };
    interpreter.execute(body);
    std::sort(result.log.begin(), result.log.end());
    return result;
}

}  // namespace Pipe::testing
