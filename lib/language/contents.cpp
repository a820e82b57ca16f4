#include "language/contents.h"

#include <mutex>
#include <unordered_map>

#include <fmt/format.h>

#include "language/match.h"
#include "support/error_text.h"
#include <pipe/operators.h>

namespace Pipe::language {
namespace {
std::atomic<uint64_t> epoch{1};
std::atomic<uint64_t> names{0};
std::atomic<uint64_t> objects{0};

/// The names of all existing Funcs.
class NamesInUse {
  public:
    std::string take(const std::string &name) {
        std::lock_guard lock(mutex_);
        auto [entry, free] = next_.try_emplace(name, 1);
        uint64_t &next = entry->second;  // references into a map stay valid on insertion
        std::string taken = name;
        while (!free) {
            taken = fmt::format("{}${}", name, next++);
            free = next_.try_emplace(taken, 1).second;
        }
        return taken;
    }
    void release(const std::string &name) {
        std::lock_guard lock(mutex_);
        next_.erase(name);
    }

  private:
    std::mutex mutex_;
    std::unordered_map<std::string, uint64_t> next_;  // name -> the number to try next
};

NamesInUse &names_in_use() {
    static auto *names = new NamesInUse;  // global Funcs may be destroyed after all statics
    return *names;
}
}  // namespace

std::shared_ptr<Identity> Identity::unique(const std::string &name) {
    return std::shared_ptr<Identity>(new Identity(name, names_in_use().take(name), true));
}

std::shared_ptr<Identity> Identity::unnamed(const std::string &kind) {
    return std::shared_ptr<Identity>(new Identity("", names_in_use().take(kind), true));
}

std::shared_ptr<Identity> Identity::named(const std::string &name, const std::string &kind) {
    return name.empty() ? unnamed(kind)
                        : std::shared_ptr<Identity>(new Identity(name, name, false));
}

std::shared_ptr<Identity> Identity::derived(const Identity &from, const std::string &suffix) {
    return from.given.empty() ? unnamed(from.name + suffix) : unique(from.given + suffix);
}

Identity::Identity(std::string given_, std::string name_, bool unique)
    : given(std::move(given_)), name(std::move(name_)), number(++objects), unique_(unique) {}

Identity::~Identity() {
    if (unique_)
        names_in_use().release(name);
}

uint64_t modification_epoch() {
    return epoch.load(std::memory_order_acquire);
}

void Identity::touch() {
    version.fetch_add(1, std::memory_order_release);
    epoch.fetch_add(1, std::memory_order_release);
}

std::string ParamContents::description() const {
    return fmt::format("Param '{}'{}", func_field(identity->name), at(where));
}

std::string FuncContents::description() const {
    return fmt::format("Func '{}'{}", func_field(name()), support::in_parentheses(where));
}

std::string FuncContents::arg_names() const {
    return args.empty() ? "none" : join(args);
}

std::string fresh_name(const std::string &base) {
    return fmt::format("{}${}", base, names.fetch_add(1, std::memory_order_relaxed));
}

std::string func_field(const std::string &name) {
    return support::marked(support::Field::Func, name);
}

std::vector<Expr> coordinates(const std::string &what, const std::vector<Expr> &args,
                              SourceLocation where) {
    std::vector<Expr> result;
    for (size_t i = 0; i < args.size(); i++) {
        if (!args[i].defined())
            throw CompileError(
                fmt::format("Coordinate {} of {}{} is an undefined Expr.", i, what, at(where)));
        Type type = args[i].type();
        if (!type.is_int_or_uint() || type.is_bool())
            throw CompileError(
                fmt::format("Coordinate {} of {}{} is {}, but coordinates are integers. "
                            "Use cast<int>(...).",
                            i, what, at(where), describe(args[i])));
        int64_t value = 0;
        if (!Int(32).can_represent(type) && ir::as_const_int(args[i], &value) &&
            !Int(32).can_represent(value))
            throw CompileError(fmt::format(
                "Coordinate {} of {}{} is {}, but coordinates are 32-bit integers, at most "
                "2147483647. Move the range with set_min(), or take a part of it.",
                i, what, at(where), describe(args[i])));
        result.push_back(cast(Int(32), args[i]));
    }
    return result;
}

}  // namespace Pipe::language
