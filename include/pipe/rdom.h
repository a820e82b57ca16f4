#pragma once
// RDom, RVar: the domain of an update definition.

#include <memory>
#include <source_location>
#include <string>
#include <type_traits>
#include <vector>

#include <pipe/buffer.h>
#include <pipe/expr.h>
#include <pipe/operators.h>
#include <pipe/var.h>

namespace Pipe {

namespace language {
struct RDomContents;
}

/// The coordinates min .. min + extent - 1.
struct Range {
    Expr min, extent;
    Range() = default;
    Range(const Expr &min_, const Expr &extent_) : min(min_), extent(extent_) {}
};

/// One Range per dimension.
using Region = std::vector<Range>;

/// One dimension of an RDom; or just a name, for loops that result from splitting an RVar.
class RVar {
  public:
    RVar();
    RVar(const std::string &name) : name_(name) {}
    RVar(const char *name) : name_(name) {}
    RVar(std::shared_ptr<language::RDomContents> domain, int index);

    const std::string &name() const { return name_; }
    /// The range; undefined for an RVar that is just a name.
    Expr min() const;
    Expr extent() const;
    /// CompileError for an RVar that is just a name.
    operator Expr() const;

  private:
    std::string name_;
    std::shared_ptr<language::RDomContents> domain_;
    int index_ = 0;
};

class ImageParam;

/// The points over which an update definition is evaluated, in lexicographic order with dimension 0
/// innermost: a box, or the part of it where all `where` conditions hold. The ranges are int32
/// Exprs of constants, Params and sizes of images.
class RDom {
  public:
    RDom() = default;
    /// RDom r(min0, extent0, min1, extent1, ..., [name])
    template <typename... Args>
    RDom(const detail::ExprAt &min, const Expr &extent, const Args &...rest) {
        Region region{Range(min.expr, extent)};
        std::string name;
        collect(region, name, rest...);
        define(region, name, min.where);
    }
    explicit RDom(const Region &region, const std::string &name = "",
                  SourceLocation where = std::source_location::current()) {
        define(region, name, where);
    }
    /// The domain of all points of a Buffer or image.
    template <typename T, int D>
    RDom(const Buffer<T, D> &image, SourceLocation where = std::source_location::current()) {
        Region region;
        for (int i = 0; i < image.dimensions(); i++) {
            region.emplace_back(Expr(image.min(i)), Expr(image.extent(i)));
        }
        define(region, "", where);
    }
    RDom(const ImageParam &image, SourceLocation where = std::source_location::current());

    bool defined() const { return contents_ != nullptr; }
    int dimensions() const;
    const std::string &name() const;
    /// CompileError if there is no such dimension.
    RVar operator[](int i) const;
    /// The RVar of a one-dimensional domain.
    operator RVar() const;
    operator Expr() const;

    /// Restricts the domain to the points at which `condition` holds: a bool of RVars, Vars,
    /// Params, Funcs and images. Call it before the RDom is used in a definition.
    void where(const Expr &condition, SourceLocation at = std::source_location::current());

    bool same_as(const RDom &other) const { return contents_ == other.contents_; }

    /// The first four dimensions.
    RVar x, y, z, w;

  private:
    static void collect(Region &, std::string &) {}
    static void collect(Region &, std::string &name, const std::string &text) { name = text; }
    template <typename... Args>
    static void collect(Region &region, std::string &name, const Expr &min, const Expr &extent,
                        const Args &...rest) {
        region.emplace_back(min, extent);
        collect(region, name, rest...);
    }
    void define(const Region &region, const std::string &name, SourceLocation where);

    std::shared_ptr<language::RDomContents> contents_;
};

/// A Var or an RVar: the loop that a directive applies to.
struct VarOrRVar {
    VarOrRVar(const Var &v) : name(v.name()) {}
    VarOrRVar(const RVar &v) : name(v.name()), is_rvar(true) {}
    VarOrRVar(const RDom &r) : VarOrRVar(RVar(r)) {}
    VarOrRVar(const std::string &v) : name(v) {}
    VarOrRVar(const char *v) : name(v) {}

    /// A string that can also be called: v.name() and v.name are the same.
    struct Name : std::string {
        using std::string::string;
        Name(const std::string &text) : std::string(text) {}
        const std::string &operator()() const { return *this; }
    };
    Name name;
    bool is_rvar = false;
};

}  // namespace Pipe
