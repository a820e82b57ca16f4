#include "language/algorithm.h"

#include <algorithm>
#include <bit>
#include <cctype>
#include <unordered_map>

#include <fmt/format.h>

#include "ir/intrinsics.h"
#include "ir/print.h"
#include "language/callees_first.h"
#include "language/collect.h"

namespace Pipe::language {
namespace {

/// A hash of a sequence; the same in every process.
class Hash {
  public:
    Hash &add(uint64_t value) {
        hash_ = (hash_ ^ value) * 0x9e3779b97f4a7c15u;
        hash_ ^= hash_ >> 29;
        hash_ *= 0xbf58476d1ce4e5b9u;
        hash_ ^= hash_ >> 32;
        return *this;
    }
    Hash &add(const std::string &text) {
        add(text.size());
        for (char c : text)
            add(static_cast<unsigned char>(c));
        return *this;
    }
    uint64_t value() const { return hash_; }

  private:
    uint64_t hash_ = 0x2545f4914f6cdd1du;
};

/// The position in the list; added at its end if new.
template <typename T>
uint64_t place_of(std::vector<std::shared_ptr<const T>> &list,
                  const std::shared_ptr<const T> &item) {
    auto found = std::find(list.begin(), list.end(), item);
    if (found == list.end())
        found = list.insert(found, item);
    return static_cast<uint64_t>(found - list.begin());
}

using FuncNames = std::unordered_map<const FuncContents *, std::string>;

/// Hashes the expressions of one stage.
class ExprHash {
  public:
    ExprHash(const FuncContents &func, const Stage &stage, const FuncNames &names,
             Algorithm &result)
        : func_(func), stage_(stage), names_(names), result_(result) {}

    uint64_t operator()(const Expr &e) {
        if (!e.defined())
            return 0;
        auto known = known_.find(e.get());
        if (known != known_.end())
            return known->second;
        const uint64_t hash = node(*e);
        known_.emplace(e.get(), hash);
        return hash;
    }

  private:
    const FuncContents &func_;
    const Stage &stage_;
    const FuncNames &names_;
    Algorithm &result_;
    std::unordered_map<const ir::ExprNode *, uint64_t> known_;

    uint64_t node(const ir::ExprNode &e) {
        Hash hash;
        hash.add(static_cast<uint64_t>(e.op)).add(e.type.element_of().operator TypeData().as_u32());
        hash.add(static_cast<uint64_t>(e.type.lanes()));
        switch (e.op) {
        case ir::Op::IntImm:
        case ir::Op::UIntImm:
            return hash.add(e.uint_value).value();
        case ir::Op::FloatImm:
            return hash.add(std::bit_cast<uint64_t>(e.float_value)).value();
        case ir::Op::Variable:
            return variable(e, hash);
        case ir::Op::Call:
            return call(e, hash);
        case ir::Op::VectorReduce:
            hash.add(static_cast<uint64_t>(e.reduce_op));
            break;
        case ir::Op::StringImm:
        case ir::Op::Let:
            hash.add(e.name);
            break;
        default:
            break;
        }
        return with_args(e, hash);
    }

    uint64_t with_args(const ir::ExprNode &e, Hash &hash) {
        for (const Expr &arg : e.args)
            hash.add((*this)(arg));
        return hash.value();
    }

    uint64_t variable(const ir::ExprNode &e, Hash &hash) {
        if (auto param = std::dynamic_pointer_cast<const ParamContents>(e.referent))
            return hash.add("param").add(place_of(result_.params, param)).value();
        if (auto image = std::dynamic_pointer_cast<const ImageContents>(e.referent))
            return hash.add("image")
                .add(place_of(result_.images, image))
                .add(e.name.substr(image->identity->name.size()))
                .value();
        for (size_t i = 0; i < stage_.rvars.size(); i++)
            if (stage_.rvars[i].name == e.name)
                return hash.add("rvar").add(i).value();
        for (size_t i = 0; i < func_.args.size(); i++)
            if (func_.args[i] == e.name)
                return hash.add("dimension").add(i).value();
        return hash.add(e.name).value();
    }

    uint64_t call(const ir::ExprNode &e, Hash &hash) {
        hash.add(static_cast<uint64_t>(e.call_kind)).add(static_cast<uint64_t>(e.index));
        if (auto image = std::dynamic_pointer_cast<const ImageContents>(e.referent)) {
            hash.add(place_of(result_.images, image));
            hash.add(static_cast<uint64_t>(image->dimensions));
        } else if (e.call_kind == ir::CallKind::Func) {
            auto callee = names_.find(static_cast<const FuncContents *>(e.referent.get()));
            hash.add(callee == names_.end() ? "itself" : callee->second);
        } else {
            hash.add(e.name);
        }
        // Without a seed, random() takes the next number of the process.
        const bool numbered =
            ir::is_intrinsic(e, ir::intrinsic::random) && ir::is_const(e.args[1], 0);
        return numbered ? hash.value() : with_args(e, hash);
    }
};

class Walker {
  public:
    Algorithm run(const std::vector<Func> &outputs) {
        for (const Func &f : outputs)
            visit_callees_first(f.contents(), entered_, named_by,
                                [&](const auto &func) { result_.contents.push_back(func); });
        name();
        for (const auto &f : result_.contents)
            result_.funcs.push_back(signature(*f));
        for (const Func &f : outputs)
            result_.outputs.push_back(names_.at(f.contents().get()));
        return std::move(result_);
    }

  private:
    Algorithm result_;
    FuncNames names_;
    EnteredFuncs entered_;

    /// The Funcs that the definitions name.
    static std::vector<std::shared_ptr<const FuncContents>> named_by(const FuncContents &f) {
        Names names;
        for (size_t s = 0; s < f.stages.size(); s++)
            graph::for_each_expr(unfactored(f, s), [&](const Expr &e) { names.add(e); });
        return names.funcs;
    }

    void name() {
        std::map<std::string, int> given;
        for (const auto &f : result_.contents)
            given[f->identity->given]++;
        for (size_t i = 0; i < result_.contents.size(); i++) {
            const std::string &name = result_.contents[i]->identity->given;
            names_[result_.contents[i].get()] =
                name.empty() || given.at(name) > 1 ? fmt::format("#{}", i) : name;
        }
    }

    FuncSignature signature(const FuncContents &f) {
        FuncSignature result{names_.at(&f), {}, {}, 0};
        for (size_t i = 0; i < f.args.size(); i++)
            result.dimensions.push_back(portable_name(f.args[i], i));
        for (Type type : f.types)
            result.types.push_back(to_string(type));
        Hash hash;
        for (size_t s = 0; s < f.stages.size(); s++) {
            const Stage &stage = unfactored(f, s);
            ExprHash of(f, stage, names_, result_);
            for (const auto *list : {&stage.args, &stage.values}) {
                hash.add(list->size());
                for (const Expr &e : *list)
                    hash.add(of(e));
            }
            hash.add(stage.rvars.size());
            for (size_t i = 0; i < stage.rvars.size(); i++)
                hash.add(rvar_name(stage.rvars[i].name, i))
                    .add(of(stage.rvars[i].min))
                    .add(of(stage.rvars[i].extent));
            hash.add(of(stage.predicate));
        }
        result.definition = hash.value();
        return result;
    }

    /// Schedules refer to RVars by name.
    static std::string rvar_name(const std::string &name, size_t i) {
        return portable_name(name, i);
    }
};

std::string list(const std::vector<std::string> &names) {
    return names.empty() ? "none" : join(names);
}

/// How the same Func differs.
std::string difference(const FuncSignature &before, const FuncSignature &now) {
    if (before.dimensions != now.dimensions)
        return fmt::format("Func '{}' has other dimensions: now {}, then {}", now.name,
                           list(now.dimensions), list(before.dimensions));
    if (before.types != now.types)
        return fmt::format("Func '{}' has another type: now {}, then {}", now.name, list(now.types),
                           list(before.types));
    if (before.definition != now.definition)
        return fmt::format("Func '{}' has another definition", now.name);
    return "";
}

}  // namespace

uint64_t Algorithm::fingerprint() const {
    Hash hash;
    for (const FuncSignature &f : funcs) {
        hash.add(f.name).add(f.definition);
        for (const auto *texts : {&f.dimensions, &f.types})
            for (const std::string &text : *texts)
                hash.add(text);
    }
    for (const std::string &name : outputs)
        hash.add(name);
    return hash.value();
}

const FuncSignature *Algorithm::find(const std::string &name) const {
    auto found = std::find_if(funcs.begin(), funcs.end(),
                              [&](const FuncSignature &f) { return f.name == name; });
    return found == funcs.end() ? nullptr : &*found;
}

Algorithm algorithm_of(const std::vector<Func> &outputs) {
    return Walker().run(outputs);
}

std::string difference(const Algorithm &before, const Algorithm &now) {
    std::vector<std::string> all;
    for (const FuncSignature &f : now.funcs) {
        const FuncSignature *old = before.find(f.name);
        if (!old)
            all.push_back(fmt::format("Func '{}' is new", f.name));
        else if (std::string text = difference(*old, f); !text.empty())
            all.push_back(text);
    }
    for (const FuncSignature &f : before.funcs)
        if (!now.find(f.name))
            all.push_back(fmt::format("Func '{}' no longer exists", f.name));
    if (all.empty() && before.outputs != now.outputs)
        all.push_back(fmt::format("the outputs are now {}, then {}", list(now.outputs),
                                  list(before.outputs)));
    if (all.empty() && before.fingerprint() != now.fingerprint())
        all.push_back("the Funcs are used in another order");
    return fmt::format("{}", fmt::join(all, "; "));
}

const Stage &unfactored(const FuncContents &func, size_t stage) {
    const Stage *result = &func.stages[stage];
    while (true) {
        Names names;
        graph::for_each_expr(*result, [&](const Expr &e) { names.add(e); });
        auto part = std::find_if(names.funcs.begin(), names.funcs.end(), [&](const auto &f) {
            return f->origin.factored && f->origin.of.lock().get() == &func;
        });
        if (part == names.funcs.end())
            return *result;
        result = &(*part)->origin.factored->before;
    }
}

bool is_generated(const std::string &name) {
    for (size_t i = 0; i + 1 < name.size(); i++)
        if (name[i] == '$' && std::isdigit(static_cast<unsigned char>(name[i + 1])))
            return true;
    return false;
}

std::string portable_name(const std::string &name, size_t position) {
    return is_generated(name) ? fmt::format("#{}", position) : name;
}

}  // namespace Pipe::language
