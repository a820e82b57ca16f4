#pragma once
// A symbol table with shadowing.

#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace Pipe::ir {

/// Maps names to values; a value pushed later hides earlier ones of the same name until it is
/// popped.
template <typename T> class Scope {
  public:
    void push(const std::string &name, T value) { table_[name].push_back(std::move(value)); }

    /// The name must have been pushed.
    void pop(const std::string &name) {
        auto found = table_.find(name);
        found->second.pop_back();
        if (found->second.empty())
            table_.erase(found);
    }

    /// Null if the name is not bound. Valid until the next push or pop of the name.
    const T *find(const std::string &name) const {
        auto found = table_.find(name);
        return found == table_.end() ? nullptr : &found->second.back();
    }
    T *find(const std::string &name) {
        return const_cast<T *>(static_cast<const Scope *>(this)->find(name));
    }

    bool contains(const std::string &name) const { return table_.count(name) != 0; }
    bool empty() const { return table_.empty(); }

  private:
    std::unordered_map<std::string, std::vector<T>> table_;
};

/// Binds a name for its own lifetime.
template <typename T> class ScopedBinding {
  public:
    ScopedBinding(Scope<T> &scope, std::string name, T value)
        : scope_(scope), name_(std::move(name)) {
        scope_.push(name_, std::move(value));
    }
    ~ScopedBinding() { scope_.pop(name_); }
    ScopedBinding(const ScopedBinding &) = delete;
    ScopedBinding &operator=(const ScopedBinding &) = delete;

  private:
    Scope<T> &scope_;
    std::string name_;
};

}  // namespace Pipe::ir
