#pragma once
// Expr: a value computed by a pipeline. A handle to an immutable expression graph.

#include <atomic>
#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include <pipe/error.h>
#include <pipe/type.h>

namespace Pipe {

namespace ir {
struct ExprNode;
void retain(const ExprNode *node) noexcept;
void release(const ExprNode *node) noexcept;
}  // namespace ir

/// A value of the pipeline: a constant, a variable, an operation on other Exprs, or an element of a
/// Func or an image. Cheap to copy; never changes. A default-constructed Expr is undefined.
class Expr {
  public:
    Expr() = default;
    Expr(bool value);
    Expr(int8_t value);
    Expr(uint8_t value);
    Expr(int16_t value);
    Expr(uint16_t value);
    Expr(int32_t value);
    Expr(uint32_t value);
    Expr(int64_t value);
    Expr(uint64_t value);
    Expr(float value);
    Expr(double value);
    Expr(float16_t value);
    Expr(bfloat16_t value);

    explicit Expr(const ir::ExprNode *node) : node_(node) { ir::retain(node_); }
    Expr(const Expr &other) : node_(other.node_) { ir::retain(node_); }
    Expr(Expr &&other) noexcept : node_(std::exchange(other.node_, nullptr)) {}
    Expr &operator=(const Expr &other) {
        Expr copy(other);
        std::swap(node_, copy.node_);
        return *this;
    }
    Expr &operator=(Expr &&other) noexcept {
        std::swap(node_, other.node_);
        return *this;
    }
    ~Expr() { ir::release(node_); }

    bool defined() const { return node_ != nullptr; }
    /// The type of the value. The Expr must be defined.
    Type type() const;

    const ir::ExprNode *get() const { return node_; }
    const ir::ExprNode *operator->() const { return node_; }
    const ir::ExprNode &operator*() const { return *node_; }
    /// Same node (not: same value).
    bool same_as(const Expr &other) const { return node_ == other.node_; }

  private:
    const ir::ExprNode *node_ = nullptr;
};

/// An ordering of nodes, for Exprs as keys: std::map<Expr, int, ExprCompare>.
struct ExprCompare {
    bool operator()(const Expr &a, const Expr &b) const {
        return std::less<const ir::ExprNode *>()(a.get(), b.get());
    }
};

}  // namespace Pipe
