// Tracing: which events come, in which order, with which values; and the lines that are printed.
#include <algorithm>
#include <atomic>
#include <map>
#include <mutex>
#include <stdexcept>
#include <string>

#include <pipe/pipe.h>

#include "test/support/everywhere.h"
#include "test/support/require_message.h"

using namespace Pipe;
using Code = TraceEventCode;

namespace {

struct Seen {
    int id, parent, index;
    Code code;
    std::string func, tag;
    Type type;
    std::vector<int> at;
    double value = 0;
};

struct Recorder : JITUserContext {
    std::mutex mutex;
    std::vector<Seen> events;
    Recorder() {
        handlers.custom_trace = [](JITUserContext *c, const TraceEvent *e) -> int32_t {
            auto &r = *static_cast<Recorder *>(c);
            std::lock_guard lock(r.mutex);
            Seen s{int(r.events.size()) + 1,
                   e->parent_id,
                   e->value_index,
                   e->event,
                   e->func,
                   e->trace_tag,
                   e->type,
                   {e->coordinates, e->coordinates + e->dimensions}};
            if (e->type == Int(32))
                s.value = *static_cast<int32_t *>(e->value);
            else if (e->type == Float(32))
                s.value = *static_cast<float *>(e->value);
            else if (e->type == UInt(8) || e->type == Bool())
                s.value = *static_cast<uint8_t *>(e->value);
            r.events.push_back(s);
            return s.id;
        };
    }
    int count(Code code, const std::string &func) const {
        return int(std::count_if(events.begin(), events.end(),
                                 [&](const Seen &s) { return s.code == code && s.func == func; }));
    }
    const Seen &first(Code code, const std::string &func) const {
        for (const Seen &s : events)
            if (s.code == code && s.func == func)
                return s;
        throw std::logic_error("no such event");
    }
};

Var x("x"), y("y");

}  // namespace

TEST_CASE("stores and loads with values and coordinates", "[driver][trace]") {
    for (bool vectorized : {false, true}) {
        INFO(vectorized);
        Func f("f"), g("g");
        f(x, y) = x + 10 * y;
        g(x, y) = cast<float>(f(x, y) + f(x + 1, y));
        f.compute_root().trace_stores().trace_loads().trace_realizations();
        g.trace_stores();
        if (vectorized) {
            f.vectorize(x, 4, TailStrategy::GuardWithIf);
            g.vectorize(x, 4, TailStrategy::GuardWithIf);
        }
        const everywhere::Shape shapes[] = {
            {1, 1, 0, 0}, {1, 1, -7, 3}, {5, 3, 0, 0}, {5, 3, 2, -1}};
        for (auto [width, height, left, top] : shapes) {
            INFO(width << " x " << height << " from " << left << ", " << top);
            Buffer<float> out(width, height);
            out.set_min(left, top);
            Recorder r;
            g.realize(&r, out);
            CHECK(r.count(Code::Store, "g") == width * height);
            CHECK(r.count(Code::Store, "f") == (width + 1) * height);
            CHECK(r.count(Code::Load, "f") == 2 * width * height);
            CHECK(r.count(Code::Load, "g") == 0);
            for (Code once : {Code::BeginRealization, Code::EndRealization, Code::Produce,
                              Code::EndProduce, Code::Consume, Code::EndConsume}) {
                CHECK(r.count(once, "f") == 1);
                CHECK(r.count(once, "g") == 0);
            }
            CHECK(r.first(Code::BeginRealization, "f").at ==
                  std::vector<int>{left, width + 1, top, height});
            int wrong = 0;
            for (const Seen &s : r.events) {
                if (s.code != Code::Store && s.code != Code::Load)
                    continue;
                double f_here = s.at.at(0) + 10 * s.at.at(1);
                wrong += s.value != (s.func == "f" ? f_here : 2 * f_here + 1);
                wrong += s.type != (s.func == "f" ? Int(32) : Float(32));
                wrong += s.index != 0;
            }
            CHECK(wrong == 0);
            out.for_each_element([&](int i, int j) { wrong += out(i, j) != 2 * (i + 10 * j) + 1; });
            CHECK(wrong == 0);
        }
    }
}

TEST_CASE("events lie in one another", "[driver][trace]") {
    Func f("f"), g("g");
    f(x) = x;
    g(x) = f(x) + 1;
    f.compute_root().trace_realizations().trace_stores().trace_loads();
    g.trace_realizations().trace_stores();
    Buffer<int> out(4);
    out.set_min(3);
    Recorder r;
    g.realize(&r, out);
    auto begin_of = [&](const Seen &end) { return r.events.at(size_t(end.parent) - 1); };
    const Seen &pipeline = r.first(Code::BeginPipeline, "g");
    CHECK(pipeline.parent == 0);
    CHECK(&pipeline == &r.events.front());
    CHECK(r.events.back().code == Code::EndPipeline);
    CHECK(begin_of(r.events.back()).id == pipeline.id);
    for (std::string func : {"f", "g"}) {
        const Seen &realization = r.first(Code::BeginRealization, func);
        CHECK(realization.parent == pipeline.id);
        CHECK(realization.at == std::vector<int>{3, 4});
        const Seen &produce = r.first(Code::Produce, func);
        CHECK(produce.parent == realization.id);
        CHECK(produce.at == std::vector<int>{3, 4});
        CHECK(r.first(Code::Store, func).parent == produce.id);
        CHECK(begin_of(r.first(Code::EndProduce, func)).id == produce.id);
        CHECK(begin_of(r.first(Code::EndRealization, func)).id == realization.id);
        CHECK(r.count(Code::EndRealization, func) == 1);
    }
    const Seen &consume = r.first(Code::Consume, "f");
    CHECK(r.first(Code::Load, "f").parent == consume.id);
    CHECK(consume.id > r.first(Code::EndProduce, "f").id);
    CHECK(begin_of(r.first(Code::EndConsume, "f")).id == consume.id);
    CHECK(r.first(Code::EndConsume, "f").id > r.first(Code::Store, "g").id);
}

TEST_CASE("updates, tuples, bools and images are traced", "[driver][trace]") {
    ImageParam in(UInt(8), 1, "in");
    in.trace_loads();
    Func f("f");
    f(x) = Tuple(cast<int>(in(x)), in(x) > 10);
    f(x) = Tuple(f(x)[0] + 1, f(x)[1]);
    f.trace_stores();
    Buffer<uint8_t> image(3);
    image.fill([](int i) { return uint8_t(7 * i); });
    in.set(image);
    Recorder r;
    Realization out = f.realize(&r, {3});
    CHECK(r.count(Code::Store, "f") == 12);
    std::map<std::pair<int, int>, std::vector<double>> stored;
    for (const Seen &s : r.events)
        if (s.code == Code::Store)
            stored[{s.index, s.at.at(0)}].push_back(s.value);
    for (int i = 0; i < 3; i++) {
        CHECK(stored[{0, i}] == std::vector<double>{7.0 * i, 7.0 * i + 1});
        CHECK(stored[{1, i}] == std::vector<double>(2, i == 2));
        CHECK(Buffer<int>(out[0])(i) == 7 * i + 1);
    }
    CHECK(r.count(Code::Load, "in") >= 3);
    for (const Seen &s : r.events)
        if (s.code == Code::Load)
            CHECK(s.value == 7 * s.at.at(0));
}

TEST_CASE("parallel loops and inner storage are traced", "[driver][trace]") {
    Func f("f"), g("g");
    f(x, y) = x * y;
    g(x, y) = f(x, y) + f(x, y + 1);
    f.compute_at(g, y).trace_realizations().trace_stores();
    g.parallel(y);
    Recorder r;
    Buffer<int> out = g.realize(&r, {6, 5});
    CHECK(r.count(Code::BeginRealization, "f") == 5);
    CHECK(r.count(Code::Consume, "f") == 5);
    CHECK(r.count(Code::EndRealization, "f") == 5);
    CHECK(r.count(Code::Store, "f") == 60);
    CHECK(out(5, 4) == 20 + 25);
}

TEST_CASE("tags and trace_pipeline", "[driver][trace]") {
    Func f("f");
    f(x) = x;
    f.add_trace_tag("the one").add_trace_tag("and only");
    Pipeline p(f);
    p.trace_pipeline();
    Recorder r;
    p.realize(&r, {2});
    REQUIRE(r.events.size() == 4);
    CHECK(r.events[1].code == Code::Tag);
    CHECK(r.events[1].tag == "the one");
    CHECK(r.events[2].tag == "and only");
    CHECK(r.events[2].parent == r.events[0].id);
    CHECK(p.schedule_source().find("add_trace_tag(\"the one\")") != std::string::npos);
    Func plain("plain");
    plain(x) = x;
    Recorder none;
    plain.realize(&none, {2});
    CHECK(none.events.empty());
}

TEST_CASE("without a handler events are lines for the print handler", "[driver][trace]") {
    struct Lines : JITUserContext {
        std::string text;
    } lines;
    lines.handlers.custom_print = [](JITUserContext *c, const char *text) {
        static_cast<Lines *>(c)->text += text;
    };
    Func f("f");
    f(x, y) = cast<float>(x) + 0.5f * cast<float>(y);
    f.trace_stores().add_trace_tag("hello");
    f.realize(&lines, {2, 2});
    CHECK(lines.text == "Begin pipeline f()\n"
                        "Tag f() tag = \"hello\"\n"
                        "Store f.0(0, 0) = 0\n"
                        "Store f.0(1, 0) = 1\n"
                        "Store f.0(0, 1) = 0.5\n"
                        "Store f.0(1, 1) = 1.5\n"
                        "End pipeline f()\n");
}

TEST_CASE("a trace handler that throws", "[driver][trace]") {
    Func f("f");
    f(x) = x;
    f.trace_stores();
    JITUserContext context;
    context.handlers.custom_trace = [](JITUserContext *, const TraceEvent *e) -> int32_t {
        if (e->event == Code::Store && e->coordinates[0] == 3)
            throw std::domain_error("three");
        return 0;
    };
    require_message<std::domain_error>([&] { f.realize(&context, {10}); }, {"three"});
    CHECK_NOTHROW(f.realize(&context, {3}));
}

TEST_CASE("events without a value have no lanes", "[driver][trace]") {
    Var x("x");
    Func f("f"), g("g");
    f(x) = x * 1.f;
    g(x) = f(x);
    f.compute_root().trace_realizations();
    g.trace_stores();
    struct Lanes : JITUserContext {
        std::atomic<int> values{0}, others{0};
    } context;
    context.handlers.custom_trace = [](JITUserContext *c, const TraceEvent *e) -> int32_t {
        auto &lanes = *static_cast<Lanes *>(c);
        const bool has_value = e->event == Code::Store;
        (has_value ? lanes.values : lanes.others) += e->lanes;
        return e->type.lanes == (has_value ? 1 : 0) ? 1 : 2;
    };
    Buffer<float> out(4);
    g.realize(&context, out);
    CHECK(context.values == 4);
    CHECK(context.others == 0);
}
