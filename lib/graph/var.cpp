#include <pipe/rdom.h>
#include <pipe/var.h>

#include <fmt/format.h>

#include "graph/collect.h"
#include "graph/contents.h"
#include "graph/match.h"
#include "ir/visit.h"
#include <pipe/param.h>

namespace Pipe {

using graph::RDomContents;

Var::Var() : name_(graph::fresh_name("v")) {}
Var::operator Expr() const {
    return ir::make_variable(Int(32), name_);
}

bool Var::is_implicit(const std::string &name) {
    return name.size() > 1 && name[0] == '_' &&
           name.find_first_not_of("0123456789", 1) == std::string::npos;
}

RVar::RVar() : name_(graph::fresh_name("rv")) {}

RVar::RVar(std::shared_ptr<RDomContents> domain, int index)
    : name_(domain->vars[static_cast<size_t>(index)].name), domain_(std::move(domain)),
      index_(index) {}

Expr RVar::min() const {
    return domain_ ? domain_->vars[static_cast<size_t>(index_)].min : Expr();
}
Expr RVar::extent() const {
    return domain_ ? domain_->vars[static_cast<size_t>(index_)].extent : Expr();
}

RVar::operator Expr() const {
    if (!domain_)
        throw CompileError(
            fmt::format("RVar '{}' belongs to no RDom, so it has no value. It can only "
                        "name a loop in a schedule.",
                        name_));
    return ir::make_variable(Int(32), name_, domain_);
}

RDom::RDom(const ImageParam &image) {
    Region region;
    for (int i = 0; i < image.dimensions(); i++)
        region.emplace_back(image.dim(i).min(), image.dim(i).extent());
    define(region, "");
}

namespace {

void check_bound(const std::string &what, const Expr &e) {
    graph::Names names;
    names.add(e);
    if (names.calls.empty() && names.vars.empty() && names.rdoms.empty() && !names.reads_images)
        return;
    throw CompileError(
        fmt::format("{} is '{}', but the ranges of an RDom are made of constants, Params "
                    "and sizes of images. Use where() for conditions on Vars or Funcs.",
                    what, graph::shortened(e)));
}

}  // namespace

void RDom::define(const Region &region, const std::string &name) {
    static const char *const letters[] = {"x", "y", "z", "w"};
    contents_ = std::make_shared<RDomContents>();
    contents_->name = name.empty() ? graph::fresh_name("r") : name;
    if (region.empty())
        throw CompileError("An RDom needs at least one dimension.");
    for (size_t i = 0; i < region.size(); i++) {
        std::string what =
            fmt::format("of dimension {} of RDom '{}'", i, graph::base_name(contents_->name));
        auto range = graph::coordinates("the range " + what, {region[i].min, region[i].extent}, {});
        check_bound("The min " + what, range[0]);
        check_bound("The extent " + what, range[1]);
        std::string suffix = i < 4 ? letters[i] : std::to_string(i);
        contents_->vars.push_back({contents_->name + "$" + suffix, range[0], range[1]});
    }
    RVar *named[] = {&x, &y, &z, &w};
    for (size_t i = 0; i < region.size() && i < 4; i++)
        *named[i] = RVar(contents_, static_cast<int>(i));
}

namespace {
const RDomContents &checked(const std::shared_ptr<RDomContents> &contents) {
    if (!contents)
        throw CompileError("An undefined RDom was used.");
    return *contents;
}
}  // namespace

int RDom::dimensions() const {
    return static_cast<int>(checked(contents_).vars.size());
}
const std::string &RDom::name() const {
    return checked(contents_).name;
}

RVar RDom::operator[](int i) const {
    if (i < 0 || i >= dimensions())
        throw CompileError(fmt::format("RDom '{}' has {} dimensions: there is no dimension {}.",
                                       graph::base_name(name()), dimensions(), i));
    return RVar(contents_, i);
}

RDom::operator RVar() const {
    if (dimensions() != 1)
        throw CompileError(fmt::format("RDom '{}' has {} dimensions: name the RVar, as in {}.x.",
                                       graph::base_name(name()), dimensions(),
                                       graph::base_name(name())));
    return RVar(contents_, 0);
}

RDom::operator Expr() const {
    return RVar(*this);
}

namespace {

/// So that the condition, which the RDom holds, does not hold the RDom.
class DetachRDom : public ir::GraphMutator {
  public:
    explicit DetachRDom(const RDomContents *rdom) : rdom_(rdom) {}

  protected:
    Expr rewrite(const Expr &e) override {
        if (e->op == ir::Op::Variable && e->referent.get() == rdom_)
            return ir::make_variable(e.type(), e->name);
        return ir::GraphMutator::rewrite(e);
    }

  private:
    const RDomContents *rdom_;
};

}  // namespace

void RDom::where(const Expr &condition) {
    std::string label = graph::base_name(name());
    if (!condition.defined() || !condition.type().is_bool())
        throw CompileError(
            fmt::format("RDom '{}': where() takes a bool, not {}.", label,
                        condition.defined() ? graph::describe(condition) : "an undefined Expr"));
    if (contents_->used)
        throw CompileError(
            fmt::format("RDom '{}': where() comes after the RDom was used in a definition. "
                        "Put it before.",
                        label));
    Expr detached = DetachRDom(contents_.get()).mutate(condition);
    contents_->predicate =
        contents_->predicate.defined() ? contents_->predicate && detached : detached;
}

}  // namespace Pipe
