#include "language/replay_directives.h"

#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "language/contents.h"
#include "language/portable.h"
#include "schedule/print.h"

namespace Pipe::language {
namespace {

using Kind = Argument::Kind;

/// The enumerator of that spelling, among the first `count`.
template <typename Enum> bool find_word(const std::string &spelling, int count, Enum *result) {
    for (int i = 0; i < count; i++)
        if (spelling == schedules::to_string(static_cast<Enum>(i))) {
            *result = static_cast<Enum>(i);
            return true;
        }
    return false;
}

/// One call of a directive; gives out its arguments.
class DirectiveCall {
  public:
    DirectiveCall(const Directive &directive, const Pipe::Stage &stage,
                  const ReplayContext &context)
        : directive_(directive), context_(context), func(stage.contents()), stage(stage) {}

    size_t count() const { return directive_.args.size(); }
    bool has(size_t i) const { return i < count(); }

    [[noreturn]] void reject(const std::string &why) const {
        throw CompileError(
            fmt::format("{}.{}: {}", func_field(stage.name()), to_string(directive_), why));
    }

    const std::string &text(size_t i) const { return get(i, Kind::Text, "a name").text; }
    Expr number(size_t i) const { return context_.number(get(i, Kind::Number, "a number").number); }
    bool flag(size_t i) const { return get(i, Kind::Flag, "true or false").flag; }

    VarOrRVar loop(size_t i) const { return loop(text(i)); }
    VarOrRVar loop(const std::string &name) const {
        return context_.loop(func, stage.index(), name);
    }
    /// A dimension of the Func.
    Var dim(size_t i) const { return Var(context_.loop(func, 0, text(i))); }
    std::vector<VarOrRVar> loops(size_t from = 0) const {
        std::vector<VarOrRVar> result;
        for (size_t i = from; i < count(); i++)
            result.push_back(loop(i));
        return result;
    }
    const std::vector<Argument> &list(size_t i) const { return get(i, Kind::List, "a list").list; }

    template <typename Enum> Enum word(size_t i, int enumerators) const {
        return word<Enum>(text(i), enumerators);
    }
    template <typename Enum> Enum word(const std::string &spelling, int enumerators) const {
        Enum result{};
        if (!find_word(spelling, enumerators, &result))
            reject(fmt::format("'{}' is not known.", spelling));
        return result;
    }
    DeviceAPI device(size_t i) const {
        return has(i) ? word<DeviceAPI>(i, 32) : DeviceAPI::Default_GPU;
    }

    /// A consumer and its loop, from argument i on, for a function of (consumer, loop).
    template <typename F> void level(size_t i, const F &f) const {
        if (!has(i) || !has(i + 1))
            reject("it needs a Func and a loop.");
        const Argument &consumer = directive_.args[i];
        const Func other = context_.func(consumer.text);
        const int at = consumer.kind == Kind::Stage ? consumer.stage : -1;
        if (at >= static_cast<int>(other.contents()->stages.size()))
            reject(fmt::format("'{}' has no update({}).", consumer.text, at - 1));
        const VarOrRVar loop = context_.loop(other, at, text(i + 1));
        if (at < 0)
            f(other, loop);
        else
            f(Pipe::Stage(other.contents(), at), loop);
    }

    void prefetch() {
        Func of;
        ImageParam image;
        context_.source(text(0), &of, &image);
        const auto strategy = word<PrefetchBoundStrategy>(4, 3);
        if (image.defined())
            stage.prefetch(image, loop(1), loop(2), number(3), strategy);
        else
            stage.prefetch(of, loop(1), loop(2), number(3), strategy);
    }

    LoopAlignments alignments(size_t i) const {
        LoopAlignments result;
        if (!has(i))
            return result;
        for (const Argument &pair : list(i)) {
            if (pair.list.size() != 2)
                reject("an alignment needs a loop and a strategy.");
            result.emplace_back(loop(pair.list[0].text),
                                word<LoopAlignStrategy>(pair.list[1].text, 4));
        }
        return result;
    }

    /// Tags stay when the schedule is replaced.
    void trace_tag(const std::string &tag) {
        const auto &tags = func.contents()->schedule.trace.tags;
        if (std::find(tags.begin(), tags.end(), tag) == tags.end())
            func.add_trace_tag(tag);
    }

    std::vector<Var> storage_order() const {
        std::vector<Var> order;
        for (const Argument &a : list(0))
            order.emplace_back(context_.loop(func, 0, a.text));
        return order;
    }

  private:
    const Directive &directive_;
    const ReplayContext &context_;

    const Argument &get(size_t i, Kind kind, const char *what) const {
        if (!has(i) || directive_.args[i].kind != kind)
            reject(fmt::format("argument {} has to be {}.", i, what));
        return directive_.args[i];
    }

  public:
    Func func;
    Pipe::Stage stage;
};

struct TableEntry {
    size_t least, most;  ///< number of arguments
    void (*call)(DirectiveCall &);
};

constexpr size_t any_number = 1000;

constexpr int tail_strategies = static_cast<int>(TailStrategy::Auto) + 1;
constexpr int memory_types = static_cast<int>(MemoryType::AMXTile) + 1;

using C = DirectiveCall;  // in the tables
using Table = std::map<std::string, TableEntry>;

const Table &loop_table() {
    static const Table table{
        {"split",
         {4, 5,
          [](C &c) {
              c.stage.split(c.loop(0), c.loop(1), c.loop(2), c.number(3),
                            c.has(4) ? c.word<TailStrategy>(4, tail_strategies)
                                     : TailStrategy::Auto);
          }}},
        {"fuse", {3, 3, [](C &c) { c.stage.fuse(c.loop(0), c.loop(1), c.loop(2)); }}},
        {"rename", {2, 2, [](C &c) { c.stage.rename(c.loop(0), c.loop(1)); }}},
        {"reorder", {2, any_number, [](C &c) { c.stage.reorder(c.loops()); }}},
        {"parallel", {1, 1, [](C &c) { c.stage.parallel(c.loop(0)); }}},
        {"vectorize", {1, 1, [](C &c) { c.stage.vectorize(c.loop(0)); }}},
        {"unroll", {1, 1, [](C &c) { c.stage.unroll(c.loop(0)); }}},
        {"gpu_blocks", {1, 2, [](C &c) { c.stage.gpu_blocks(c.loop(0), c.device(1)); }}},
        {"gpu_threads", {1, 2, [](C &c) { c.stage.gpu_threads(c.loop(0), c.device(1)); }}},
        {"gpu_lanes", {1, 2, [](C &c) { c.stage.gpu_lanes(c.loop(0), c.device(1)); }}},
        {"gpu_single_thread", {0, 1, [](C &c) { c.stage.gpu_single_thread(c.device(0)); }}},
        {"never_partition", {1, 1, [](C &c) { c.stage.never_partition(c.loop(0)); }}},
        {"always_partition", {1, 1, [](C &c) { c.stage.always_partition(c.loop(0)); }}},
        {"prefetch", {5, 5, [](C &c) { c.prefetch(); }}},
        {"atomic", {0, 1, [](C &c) { c.stage.atomic(c.has(0) && c.flag(0)); }}},
        {"allow_race_conditions", {0, 0, [](C &c) { c.stage.allow_race_conditions(); }}},
        {"unscheduled", {0, 0, [](C &c) { c.stage.unscheduled(); }}},
        {"specialize", {1, 1, [](C &c) { c.stage.specialize(c.number(0)); }}},
        {"specialize_fail", {1, 1, [](C &c) { c.stage.specialize_fail(c.text(0)); }}},
        {"compute_with",
         {2, 3,
          [](C &c) {
              const LoopAlignments align = c.alignments(2);
              c.level(0, [&](const auto &other, const VarOrRVar &loop) {
                  c.stage.compute_with(other, loop, align);
              });
          }}},
    };
    return table;
}

const Table &func_table() {
    static const Table table{
        {"compute_root", {0, 0, [](C &c) { c.func.compute_root(); }}},
        {"compute_at",
         {2, 2,
          [](C &c) {
              c.level(0, [&](const auto &f, const VarOrRVar &v) { c.func.compute_at(f, v); });
          }}},
        {"store_root", {0, 0, [](C &c) { c.func.store_root(); }}},
        {"store_at",
         {2, 2,
          [](C &c) {
              c.level(0, [&](const auto &f, const VarOrRVar &v) { c.func.store_at(f, v); });
          }}},
        {"hoist_storage_root", {0, 0, [](C &c) { c.func.hoist_storage_root(); }}},
        {"hoist_storage",
         {2, 2,
          [](C &c) {
              c.level(0, [&](const auto &f, const VarOrRVar &v) { c.func.hoist_storage(f, v); });
          }}},
        {"bound", {3, 3, [](C &c) { c.func.bound(c.dim(0), c.number(1), c.number(2)); }}},
        {"bound_extent", {2, 2, [](C &c) { c.func.bound_extent(c.dim(0), c.number(1)); }}},
        {"align_bounds",
         {3, 3, [](C &c) { c.func.align_bounds(c.dim(0), c.number(1), c.number(2)); }}},
        {"align_extent", {2, 2, [](C &c) { c.func.align_extent(c.dim(0), c.number(1)); }}},
        {"align_storage", {2, 2, [](C &c) { c.func.align_storage(c.dim(0), c.number(1)); }}},
        {"bound_storage", {2, 2, [](C &c) { c.func.bound_storage(c.dim(0), c.number(1)); }}},
        {"fold_storage",
         {2, 3, [](C &c) { c.func.fold_storage(c.dim(0), c.number(1), !c.has(2) || c.flag(2)); }}},
        {"reorder_storage", {1, 1, [](C &c) { c.func.reorder_storage(c.storage_order()); }}},
        {"store_in", {1, 1, [](C &c) { c.func.store_in(c.word<MemoryType>(0, memory_types)); }}},
        {"trace_loads", {0, 0, [](C &c) { c.func.trace_loads(); }}},
        {"trace_stores", {0, 0, [](C &c) { c.func.trace_stores(); }}},
        {"trace_realizations", {0, 0, [](C &c) { c.func.trace_realizations(); }}},
        {"add_trace_tag", {1, 1, [](C &c) { c.trace_tag(c.text(0)); }}},
        {"no_profiling", {0, 0, [](C &c) { c.func.no_profiling(); }}},
        {"ring_buffer", {1, 1, [](C &c) { c.func.ring_buffer(c.number(0)); }}},
        {"memoize",
         {0, 1, [](C &c) { c.func.memoize(c.has(0) ? EvictionKey(c.number(0)) : EvictionKey()); }}},
        {"async", {0, 0, [](C &c) { c.func.async(); }}},
        {"unroll_updates", {0, 0, [](C &c) { c.func.unroll_updates(); }}},
        {"store_nontemporal", {0, 0, [](C &c) { c.func.store_nontemporal(); }}},
        {"copy_to_device", {0, 0, [](C &c) { c.func.copy_to_device(); }}},
        {"copy_to_host", {0, 0, [](C &c) { c.func.copy_to_host(); }}},
        {"load_nontemporal", {0, 0, [](C &c) { c.func.load_nontemporal(); }}},
    };
    return table;
}

}  // namespace

void replay(const Directive &directive, const Pipe::Stage &stage, const ReplayContext &context) {
    DirectiveCall call(directive, stage, context);
    for (const Table *table : {&loop_table(), &func_table()}) {
        auto found = table->find(directive.name);
        if (found == table->end())
            continue;
        const TableEntry &entry = found->second;
        if (call.count() < entry.least || call.count() > entry.most)
            call.reject(entry.least == entry.most
                            ? fmt::format("it needs {} arguments.", entry.least)
                            : fmt::format("it needs {} to {} arguments.", entry.least, entry.most));
        entry.call(call);
        return;
    }
    call.reject(
        fmt::format("there is no directive '{}' that a schedule may hold.", directive.name));
}

}  // namespace Pipe::language
