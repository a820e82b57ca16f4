#include "fuzz/rewrite.h"

#include <algorithm>
#include <cctype>
#include <string>
#include <utility>

namespace Pipe::fuzz {
namespace {

class Rewriter {
  public:
    Rewriter(Algorithm &algorithm, Choices &choices, std::vector<std::string> &text)
        : a_(algorithm), c_(choices), text_(text) {}

    // In this order: what rfactor makes of a reader of a clone or a wrapper reads the original, and a
    // clone reads what its original read before wrappers took the place of that.
    void run() {
        for (size_t i = a_.sources.size(); i-- > 0;) {
            for (size_t k = 1; k < a_.sources[i].stages.size(); k++) {
                if (a_.sources[i].stages[k].associative && c_.chance(35)) {
                    rfactor(i, k);
                    // What stands here now is the new Func.
                    if (!a_.sources[i].stages[1].rvars.empty() && c_.chance(30))
                        rfactor(i, 1);
                    break;
                }
            }
        }
        if (c_.chance(10))
            clone_in();
        for (int n = c_.below(12) - 9; n > 0; n--)  // mostly none
            wrap();
    }

  private:
    Algorithm &a_;
    Choices &c_;
    std::vector<std::string> &text_;
    int names_ = 0;

    bool reads(size_t reader, size_t source) const;
    std::vector<int> readers(size_t source) const;
    std::vector<int> some_readers(size_t source);
    void redirect(const std::vector<int> &readers, int from, int to);
    std::string list(const std::vector<int> &sources) const;
    std::vector<Func> funcs(const std::vector<int> &sources) const;
    void clone_in();
    void wrap();
    void rfactor(size_t i, size_t k);
};

bool Rewriter::reads(size_t reader, size_t source) const {
    for (const StageInfo &stage : a_.sources[reader].stages) {
        for (const Access &access : stage.accesses) {
            if (access.source == static_cast<int>(source))
                return true;
        }
    }
    return false;
}

/// Those whose definitions call it themselves.
std::vector<int> Rewriter::readers(size_t source) const {
    std::vector<int> result;
    for (size_t i = source + 1; i < a_.sources.size(); i++) {
        const Source &s = a_.sources[i];
        if (!s.is_image && !s.reads_through_another && !s.boundary && reads(i, source))
            result.push_back(static_cast<int>(i));
    }
    return result;
}

std::vector<int> Rewriter::some_readers(size_t source) {
    std::vector<int> all = readers(source), result;
    for (int reader : all) {
        if (c_.chance(60))
            result.push_back(reader);
    }
    if (result.empty() && !all.empty())
        result.push_back(c_.of(all));
    return result;
}

void Rewriter::redirect(const std::vector<int> &readers, int from, int to) {
    for (int reader : readers) {
        for (StageInfo &stage : a_.sources[static_cast<size_t>(reader)].stages) {
            for (Access &access : stage.accesses) {
                if (access.source == from)
                    access.source = to;
            }
        }
    }
}

std::string Rewriter::list(const std::vector<int> &sources) const {
    std::string text;
    for (int s : sources)
        text += (text.empty() ? "" : ", ") + a_.sources[static_cast<size_t>(s)].name;
    return sources.size() > 1 ? "{" + text + "}" : text;
}

std::vector<Func> Rewriter::funcs(const std::vector<int> &sources) const {
    std::vector<Func> result;
    for (int s : sources)
        result.push_back(a_.sources[static_cast<size_t>(s)].func);
    return result;
}

void increment(std::vector<int> &indices) {
    for (int &i : indices)
        i++;
}

void Rewriter::clone_in() {
    size_t i = static_cast<size_t>(c_.below(static_cast<int>(a_.sources.size())));
    std::vector<int> consumers = some_readers(i);
    if (a_.sources[i].is_image || consumers.empty())
        return;
    Source copy = a_.sources[i];
    copy.name += "_clone" + std::to_string(names_++);
    copy.output = false;
    copy.func = copy.func.clone_in(funcs(consumers));
    text_.push_back("Func " + copy.name + " = " + a_.sources[i].name + ".clone_in(" +
                    list(consumers) + ");");
    insert_source(a_, i + 1, copy);
    increment(consumers);
    redirect(consumers, static_cast<int>(i), static_cast<int>(i) + 1);
}

/// in() for some or all that read it.
void Rewriter::wrap() {
    size_t i = static_cast<size_t>(c_.below(static_cast<int>(a_.sources.size())));
    const Source &s = a_.sources[i];
    bool all = c_.chance(30) || !s.fixed_box.empty();
    std::vector<int> consumers;
    for (size_t j = i + 1; j < a_.sources.size() && all; j++) {
        if (reads(j, i) && a_.sources[j].wraps != static_cast<int>(i))
            consumers.push_back(static_cast<int>(j));
    }
    if (!all)
        consumers = some_readers(i);
    if (consumers.empty())
        return;
    Source w;
    w.name = s.name + "_in" + std::to_string(names_++);
    w.func = all          ? (s.is_image ? s.image.in() : s.func.in())
             : s.is_image ? s.image.in(funcs(consumers))
                          : s.func.in(funcs(consumers));
    w.dimensions = s.dimensions;
    w.exact = s.exact || !s.fixed_box.empty();
    w.elements = s.elements;
    w.touched.resize(static_cast<size_t>(s.dimensions));
    w.wraps = static_cast<int>(i);
    StageInfo stage;
    Access access{static_cast<int>(i), {}, false};
    for (int d = 0; d < s.dimensions; d++) {
        Var v = w.func.args()[static_cast<size_t>(d)];
        w.vars.push_back(v.name());
        stage.loops.push_back({v.name(), v, false});
        access.coordinates.push_back({{}, {{d, 1, 1, 0}}, {0, 0}});
    }
    stage.accesses.push_back(access);
    w.stages.push_back(stage);
    text_.push_back("Func " + w.name + " = " + s.name + ".in(" + (all ? "" : list(consumers)) +
                    ");");
    insert_source(a_, i + 1, w);
    increment(consumers);
    redirect(consumers, static_cast<int>(i), static_cast<int>(i) + 1);
}

int floor_div(int a, int b) {
    return a >= 0 ? a / b : -((-a + b - 1) / b);
}

/// A loop of an update that is taken apart, and which variable of the intermediate's update it is:
/// number d < dimensions is a pure one, the others are its RVars.
struct Part {
    LoopVar loop;
    Interval range;
    bool preserved = false;
    int variable = -1;
};

/// An RVar of an update that is taken apart.
struct Reduced {
    Interval range;
    int factor = 0;           ///< 0: it is not split
    std::vector<Part> parts;  ///< itself, or the outer and the inner loop of the split
};

/// One rfactor.
class Factored {
  public:
    Factored(Source &of, size_t stage, Choices &choices, std::string name)
        : s_(of), stage_(of.stages[stage]), c_(choices),
          update_(of.func.update(stage_number(stage))),
          text_(of.name + ".update(" + std::to_string(stage_number(stage)) + ")") {
        intermediate.name = std::move(name);
        intermediate.vars = s_.vars;
    }

    /// Makes the Func that combines part by part. The update then combines those: its access goes
    /// to source -1 until the new Func has a place.
    void run() {
        for (size_t r = 0; r < stage_.rvars.size(); r++)
            preserve_some(r);
        if (preserved().empty())
            reduced_[0].parts[0].preserved = true;
        for (Part *p : preserved()) {
            p->variable = static_cast<int>(intermediate.vars.size());
            intermediate.vars.push_back("u" + std::to_string(p->variable));
            preserved_.push_back(p->loop);
            ranges_.push_back(p->range);
        }
        std::vector<std::pair<RVar, Var>> pairs;
        std::string names;
        for (size_t p = 0; p < preserved_.size(); p++) {
            Var v(intermediate.vars[static_cast<size_t>(s_.dimensions) + p]);
            pairs.emplace_back(RVar(preserved_[p].loop.name), v);
            names += (p ? ", {" : "{") + preserved_[p].text + ", " + v.name() + "}";
        }
        intermediate.func = update_.rfactor(pairs);
        text = "Func " + intermediate.name + " = " + text_ + ".rfactor({" + names + "});";
        describe();
        describe_merge();
    }

    Source intermediate;
    std::string text;

  private:
    Source &s_;
    StageInfo &stage_;
    Choices &c_;
    Stage update_;
    std::string text_;
    std::vector<Reduced> reduced_;  ///< per RVar
    std::vector<LoopVar> preserved_;
    std::vector<Interval> ranges_;  ///< of those

    static int stage_number(size_t stage) { return static_cast<int>(stage) - 1; }

    const LoopVar &loop_of(size_t r) const {
        return *std::find_if(stage_.loops.begin(), stage_.loops.end(),
                             [&](const LoopVar &l) { return l.loop.name == stage_.rvar_names[r]; });
    }

    std::vector<Part *> preserved() {
        std::vector<Part *> result;
        for (Reduced &r : reduced_) {
            for (Part &p : r.parts) {
                if (p.preserved)
                    result.push_back(&p);
            }
        }
        return result;
    }

    void preserve_some(size_t r) {
        reduced_.push_back({stage_.rvars[r], 0, {}});
        Reduced &now = reduced_.back();
        const LoopVar loop = loop_of(r);
        if (!c_.chance(40)) {
            now.parts = {{loop, now.range, c_.chance(60)}};
            return;
        }
        now.factor = c_.of<int>({2, 3, 4});
        LoopVar outer = split_name(loop, "o"), inner = split_name(loop, "i");
        update_.split(loop.loop, outer.loop, inner.loop, now.factor);
        text_ += ".split(" + loop.text + ", " + outer.text + ", " + inner.text + ", " +
                 std::to_string(now.factor) + ")";
        int which = c_.below(3);
        int blocks = (now.range.extent() + now.factor - 1) / now.factor;
        now.parts = {{outer, {0, blocks - 1}, which != 1},
                     {inner, {0, now.factor - 1}, which != 0}};
    }

    static LoopVar split_name(const LoopVar &of, const std::string &suffix) {
        std::string name;
        for (char c : of.text) {
            if (std::isalnum(static_cast<unsigned char>(c)))
                name += c;
        }
        name = "r" + name + suffix;
        return {"RVar(\"" + name + "\")", RVar(name), true};
    }

    static std::vector<LoopVar> loops_of(const Stage &stage) {
        std::vector<LoopVar> result;
        for (const VarOrRVar &v : stage.loops())
            result.push_back({(v.is_rvar ? "RVar(\"" : "Var(\"") + v.name + "\")", v, v.is_rvar});
        return result;
    }

    /// A coordinate in terms of the intermediate's variables; `keep` is false: where the update's
    /// RVars take all their values.
    Index replace_rvars(const Index &index, bool keep) const {
        Index result{index.value, {}, index.rest};
        auto add = [&](const Part &p, int scale, const Index::Term &t, int offset) {
            result.terms.push_back({p.variable, t.num * scale, t.den, offset});
        };
        for (const Index::Term &t : index.terms) {
            if (t.var < s_.dimensions) {
                result.terms.push_back(t);
                continue;
            }
            const Reduced &r = reduced_[static_cast<size_t>(t.var - s_.dimensions)];
            bool exact = r.factor > 0 && r.range.extent() % r.factor == 0;
            if (keep && r.factor == 0) {
                add(r.parts[0], 1, t, t.off);
            } else if (keep && exact) {
                add(r.parts[0], r.factor, t, t.off + r.range.low * t.num);
                add(r.parts[1], 1, t, 0);
                result.rest.high += t.den > 1;
            } else {  // what goes beyond the RVar's range is guarded
                int a = floor_div(r.range.low * t.num + t.off, t.den);
                int b = floor_div(r.range.high * t.num + t.off, t.den);
                result.rest.low += std::min(a, b);
                result.rest.high += std::max(a, b);
            }
        }
        return result;
    }

    void describe() {
        Source &f = intermediate;
        f.dimensions = static_cast<int>(f.vars.size());
        f.elements = s_.elements;
        f.touched = s_.touched;
        f.touched.resize(f.vars.size());
        StageInfo initial, update;
        for (const std::string &v : f.vars)
            initial.loops.push_back({v, Var(v), false});
        for (Reduced &r : reduced_) {
            for (Part &p : r.parts) {
                if (p.preserved)
                    continue;
                p.variable = f.dimensions + static_cast<int>(update.rvars.size());
                update.rvars.push_back(p.range);
                update.rvar_names.push_back(p.loop.loop.name);
            }
        }
        for (Access access : stage_.accesses) {
            for (Index &index : access.coordinates)
                index = replace_rvars(index, true);
            update.accesses.push_back(access);
        }
        update.loops = loops_of(f.func.update(0));
        update.combines = stage_.combines;
        update.associative = true;
        update.on_the_left = stage_.on_the_left;
        f.stages = {initial, update};
    }

    void describe_merge() {
        Access access{-1, {}, false};
        for (int d = 0; d < s_.dimensions; d++)
            access.coordinates.push_back({{}, {{d, 1, 1, 0}}, {0, 0}});
        for (const Interval &range : ranges_)
            access.coordinates.push_back({{}, {}, range});
        StageInfo merge;
        merge.accesses = {access};
        merge.loops = loops_of(update_);
        // Where the preserved RVars alone say what is written, the merge says it too.
        bool everywhere = std::any_of(merge.loops.begin(), merge.loops.end(),
                                      [&](const LoopVar &l) { return l.loop.name == s_.vars[0]; });
        for (size_t n = 0; n < stage_.on_the_left && !everywhere; n++) {
            Access left = stage_.accesses[n];
            for (Index &index : left.coordinates)
                index = replace_rvars(index, false);
            merge.accesses.push_back(left);
        }
        merge.combines = stage_.combines;
        stage_ = merge;
    }
};

/// Stage k of source i combines what a new Func, which takes its place i, has combined part by
/// part.
void Rewriter::rfactor(size_t i, size_t k) {
    Source &s = a_.sources[i];
    Factored factored(s, k, c_, s.name + "_part" + std::to_string(names_++));
    factored.run();
    text_.push_back(factored.text);
    insert_source(a_, i, factored.intermediate);
    a_.sources[i + 1].stages[k].accesses[0].source = static_cast<int>(i);
}

}  // namespace

void rewrite(Algorithm &algorithm, Choices &choices, std::vector<std::string> &text) {
    Rewriter(algorithm, choices, text).run();
}

}  // namespace Pipe::fuzz
