#include "language/memoize.h"

#include <algorithm>
#include <map>
#include <set>
#include <unordered_set>

#include <fmt/format.h>

#include "graph/names.h"
#include "ir/equal.h"
#include "ir/intrinsics.h"
#include "ir/visit.h"
#include "language/collect.h"
#include "language/match.h"
#include <pipe/func.h>

namespace Pipe {

namespace {

/// CompileError if the value depends on coordinates, or cannot be known before the pipeline runs.
void require_key(const std::string &directive, const Expr &key) {
    graph::Walk walk;
    walk(key, [&](const ir::ExprNode &e) {
        bool known = e.op != ir::Op::StringImm;
        if (e.op == ir::Op::Variable)
            known = std::dynamic_pointer_cast<const language::ParamContents>(e.referent) ||
                    std::dynamic_pointer_cast<const language::ImageContents>(e.referent);
        if (e.op == ir::Op::Call)
            known =
                e.call_kind == ir::CallKind::Intrinsic || e.call_kind == ir::CallKind::PureExtern;
        if (!known)
            throw CompileError(fmt::format(
                "{}: the key {} contains {}. A key may contain only Params, constants and sizes of "
                "images.",
                directive, language::describe(key), language::describe(Expr(&e))));
    });
}

}  // namespace

Func &Func::memoize(const EvictionKey &eviction_key) {
    Expr key = eviction_key.key();
    if (key.defined()) {
        Type type = key.type();
        if (!(type.is_int_or_uint() || type.is_handle()))
            throw CompileError(
                fmt::format("{}.memoize(EvictionKey({})): the key is not an integer.",
                            language::func_field(name()), language::describe(key)));
        require_key(language::func_field(name()) + ".memoize", key);
        key = type.is_handle() ? ir::make_reinterpret(UInt(64), key) : cast(UInt(64), key);
    }
    const std::optional<schedules::Memoized> &before = contents_->schedule.memoize;
    if (before && (before->eviction_key.defined() != key.defined() ||
                   (key.defined() && !ir::equal(before->eviction_key, key))))
        throw CompileError(fmt::format("{}.memoize: it is already memoized, with another eviction "
                                       "key. Leave one of the two out.",
                                       language::func_field(name())));
    contents_->schedule.memoize = schedules::Memoized{key, {}};
    contents_->schedule.touched = true;
    contents_->identity->touch();
    return *this;
}

Expr memoize_tag(const Expr &value, const std::vector<Expr> &keys) {
    language::require_defined("memoize_tag", value);
    for (const Expr &key : keys) {
        language::require_defined("memoize_tag", key);
        require_key("memoize_tag", key);
    }
    if (keys.empty())
        require_key("memoize_tag", value);
    std::vector<Expr> args{value};
    args.insert(args.end(), keys.begin(), keys.end());
    return ir::make_call(value.type(), ir::intrinsic::memoize_tag, args, ir::CallKind::Intrinsic);
}

namespace language {

bool is_memoize_tag(const ir::ExprNode &node) {
    return ir::is_intrinsic(node, ir::intrinsic::memoize_tag);
}

namespace {

class WithoutTags : public ir::GraphMutator {
  protected:
    Expr rewrite(const Expr &e) override {
        return is_memoize_tag(*e) ? mutate(e->args[0]) : ir::GraphMutator::rewrite(e);
    }
};

/// The dependences of the values of a Func. Values that cannot be keys are listed with the Func
/// that uses them.
struct Dependencies {
    std::set<Expr, ir::ExprLess> keys;
    std::map<std::string, FuncId> images, pointers;

    void add(const Dependencies &other) {
        keys.insert(other.keys.begin(), other.keys.end());
        images.insert(other.images.begin(), other.images.end());
        pointers.insert(other.pointers.begin(), other.pointers.end());
    }
};

/// Collects the dependences, producers first.
class Collector {
  public:
    explicit Collector(const Graph &graph) : graph_(graph) {
        for (const Scalar &scalar : graph.scalars)
            (scalar.type.is_handle() ? pointers_ : values_).insert(scalar.name);
        for (const Image &image : graph.images)
            if (!image.bound.defined())
                params_.insert(image.name);
        values_.merge(graph::shape_names(graph));
    }

    std::vector<Dependencies> run() {
        for (const FuncNode &f : graph_.funcs) {
            func_ = f.id;
            seen_.clear();
            found_.emplace_back();
            for (const Stage &stage : f.stages)
                add(stage);
        }
        return std::move(found_);
    }

  private:
    const Graph &graph_;
    std::set<std::string> values_, pointers_;  ///< names of Variables
    std::set<std::string> params_;             ///< ImageParams
    FuncId func_ = FuncId::None;
    std::vector<Dependencies> found_;
    std::unordered_set<const ir::ExprNode *> seen_;
    WithoutTags without_tags_;

    void add(const Stage &stage) {
        graph::for_each_expr(stage, [&](const Expr &e) { add(e); });
        for (const ReductionVar &r : stage.rvars)
            add(r.min), add(r.extent);
    }

    void add(const Expr &e) {
        if (!seen_.insert(e.get()).second)
            return;
        Dependencies &here = found_.back();
        if (is_memoize_tag(*e)) {
            for (size_t i = e->args.size() > 1 ? 1 : 0; i < e->args.size(); i++)
                here.keys.insert(without_tags_.mutate(e->args[i]));
            return;
        }
        if (e->op == ir::Op::Variable && values_.count(e->name))
            here.keys.insert(e);
        if (e->op == ir::Op::Variable && pointers_.count(e->name))
            here.pointers.emplace(e->name, func_);
        if (ir::is_intrinsic(*e.get(), ir::intrinsic::user_context))
            here.pointers.emplace(e->name, func_);
        if (e->op == ir::Op::Call && e->call_kind == ir::CallKind::Image && params_.count(e->name))
            here.images.emplace(e->name, func_);
        if (e->op == ir::Op::Call && e->call_kind == ir::CallKind::Func &&
            static_cast<FuncId>(e->int_value) != func_)
            here.add(found_[static_cast<size_t>(e->int_value)]);
        for (const Expr &arg : e->args)
            if (arg.defined())
                add(arg);
    }
};

[[noreturn]] void reject(const Graph &graph, const FuncNode &f, const std::string &what,
                         FuncId user, const std::string &advice) {
    std::string by = user == f.id ? "" : fmt::format(", which '{}' reads,", graph[user].name);
    throw CompileError(
        fmt::format("{}.memoize{}: it depends on {}{} and that is not part of the key of its "
                    "cache entries. {}",
                    func_field(f.name), at(f.where), what, by, advice));
}

void require_keys(const Graph &graph, const FuncNode &f, const Dependencies &all) {
    for (const auto &[image, user] : all.images)
        reject(graph, f, fmt::format("the contents of the ImageParam '{}'", image), user,
               fmt::format("Give a key for them: memoize_tag({}(...), version), with a Param "
                           "that changes whenever the image does.",
                           image));
    for (const auto &[pointer, user] : all.pointers)
        reject(
            graph, f, fmt::format("the pointer '{}'", pointer), user,
            "Give a key for the data that it points to: memoize_tag(value, version), with a Param "
            "that changes whenever the data does.");
}

}  // namespace

void find_memoize_keys(const Graph &graph, schedules::Schedule &schedule) {
    if (std::none_of(schedule.funcs.begin(), schedule.funcs.end(),
                     [](const schedules::FuncSchedule &s) { return s.memoize.has_value(); }))
        return;
    std::vector<Dependencies> all = Collector(graph).run();
    for (const FuncNode &f : graph.funcs) {
        if (!schedule[f.id].memoize)
            continue;
        const Dependencies &own = all[static_cast<size_t>(f.id)];
        require_keys(graph, f, own);
        schedule[f.id].memoize->key.assign(own.keys.begin(), own.keys.end());
    }
}

void remove_memoize_tags(Graph &graph) {
    WithoutTags without_tags;
    for (FuncNode &f : graph.funcs)
        for (Stage &stage : f.stages) {
            graph::for_each_expr(stage, [&](Expr &e) { e = without_tags.mutate(e); });
            for (ReductionVar &r : stage.rvars)
                r.min = without_tags.mutate(r.min), r.extent = without_tags.mutate(r.extent);
        }
}

}  // namespace language
}  // namespace Pipe
