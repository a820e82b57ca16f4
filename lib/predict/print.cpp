#include <fmt/format.h>

#include "predict/nest.h"

namespace Pipe::predict {

namespace {

class NestPrinter {
  public:
    explicit NestPrinter(const Nest &nest) : nest_(nest) {}

    std::string print() {
        body(nest_.root);
        for (const std::string &note : nest_.notes)
            line("note: " + note);
        return std::move(out_);
    }

  private:
    const Nest &nest_;
    std::string out_;
    int indent_ = 0;

    void line(const std::string &text) {
        out_.append(static_cast<size_t>(2 * indent_), ' ');
        out_ += text + "\n";
    }

    void loop(const Node &n) {
        line(fmt::format("{} {}, {:.4g} iterations{}", n.parallel ? "parallel" : "for", n.name,
                         n.trips,
                         n.entries == 1 ? "" : fmt::format(", entered {:.4g} times", n.entries)));
        indent_++;
        body(n);
        indent_--;
    }

    void body(const Node &n) {
        for (const auto &[stage, w] : n.work)
            if (const std::string text = work(w); !text.empty())
                line(fmt::format("{}:{}", nest_.stages[static_cast<size_t>(stage)], text));
        for (const auto &[stage, clocks] : n.clocks)
            line(
                fmt::format("{}: {:.4g} clocks", nest_.stages[static_cast<size_t>(stage)], clocks));
        if (n.chain > 0)
            line(fmt::format("waits {:.4g} clocks for the previous iteration", n.chain));
        if (n.loops.empty() && n.live > 0)
            line(fmt::format("registers: {:.4g}", n.live));
        for (const Access &a : n.accesses)
            line(access(a));
        for (const auto &inner : n.loops)
            loop(*inner);
    }

    static std::string work(const Work &w) {
        std::string text;
        auto add = [&](double count, const char *what) {
            if (count != 0)
                text += fmt::format(" {:.4g} {}", count, what);
        };
        add(w.arithmetic, "arithmetic");
        add(w.simple, "simple");
        add(w.shuffles, "shuffles");
        add(w.loads, "loads");
        add(w.stores, "stores");
        add(w.scalar, "scalar");
        add(w.slow, "clocks");
        return text;
    }

    std::string access(const Access &a) const {
        std::string text =
            fmt::format("{} {}[{:.6g}", a.store ? "store" : "load",
                        nest_.buffers[static_cast<size_t>(a.buffer)].name, a.index.value);
        for (const Term &t : a.index.terms)
            text += fmt::format(" + {:.6g} l{}({:.4g})", t.step, t.loop, t.distinct);
        if (a.lanes > 1)
            text += fmt::format(" + {:.4g} lane({}){}", a.index.lane_step, a.lanes,
                                a.index.even ? "" : " uneven");
        if (a.index.data)
            text += fmt::format(" + data in {:.4g} .. {:.4g}", a.index.lo, a.index.hi);
        return text + "]" +
               (a.chance == 1 ? "" : fmt::format(" with probability {:.3g}", a.chance));
    }
};

}  // namespace

std::string to_string(const Nest &nest) {
    return NestPrinter(nest).print();
}

}  // namespace Pipe::predict
