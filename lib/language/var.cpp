#include <pipe/rdom.h>
#include <pipe/var.h>

#include <cstdlib>

#include <fmt/format.h>

#include "ir/print.h"
#include "ir/visit.h"
#include "language/collect.h"
#include "language/contents.h"
#include "language/match.h"
#include "support/text.h"
#include <pipe/param.h>
#include <pipe/schedule.h>

namespace Pipe {

using language::RDomContents;

Var::Var() : name_(language::fresh_name("v")) {}
Var::operator Expr() const {
    return ir::make_variable(Int(32), name_);
}

bool Var::is_implicit(const std::string &name) {
    return name.size() > 1 && name[0] == '_' &&
           name.find_first_not_of("0123456789", 1) == std::string::npos;
}

Var Var::outermost() {
    return Var(schedules::outermost_loop);
}

int Var::implicit_index(const std::string &name) {
    return is_implicit(name) ? std::atoi(name.c_str() + 1) : -1;
}

RVar::RVar() : name_(language::fresh_name("rv")) {}

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
        throw CompileError(fmt::format(
            "RVar '{}'{} does not belong to an RDom, so it has no value. It can only name a "
            "loop in a schedule; use the RVar of an RDom, as in RDom r(0, 10).",
            name_, language::nearby()));
    return ir::make_variable(Int(32), name_, domain_);
}

RDom::RDom(const ImageParam &image, SourceLocation where) {
    Region region;
    for (int i = 0; i < image.dimensions(); i++)
        region.emplace_back(image.dim(i).min(), image.dim(i).extent());
    define(region, "", where);
}

namespace {

/// "RDom 'r' at blur.cpp:12"
std::string describe(const RDomContents &rdom) {
    return fmt::format("RDom '{}'{}", rdom.name, language::at(rdom.where));
}

void check_bound(const std::string &what, const Expr &e) {
    if (language::is_uniform(e))
        return;
    throw CompileError(
        fmt::format("{} is '{}', but the ranges of an RDom may contain only constants, Params "
                    "and sizes of images. Use where() for conditions on Vars or Funcs.",
                    what, ir::shortened(e)));
}

/// "x", "y", "z", "w", "d4", ...: of the RVar of dimension d.
std::string rvar_name(size_t d) {
    return d < 4 ? std::string(1, "xyzw"[d]) : fmt::format("d{}", d);
}

}  // namespace

void RDom::define(const Region &region, const std::string &name, SourceLocation where) {
    language::passed(where);
    contents_ = std::make_shared<RDomContents>();
    contents_->identity = language::Identity::named(name, "r");
    contents_->name = contents_->identity->name;
    contents_->where = where;
    if (region.empty())
        throw CompileError(
            describe(*contents_) +
            " has an empty list of ranges. Give it a min and an extent per dimension.");
    for (size_t i = 0; i < region.size(); i++) {
        std::string what = fmt::format("of dimension {} of {}", i, describe(*contents_));
        auto range =
            language::coordinates("the range " + what, {region[i].min, region[i].extent}, {});
        check_bound("The min " + what, range[0]);
        check_bound("The extent " + what, range[1]);
        contents_->vars.push_back({contents_->name + "$" + rvar_name(i), range[0], range[1]});
    }
    RVar *named[] = {&x, &y, &z, &w};
    for (size_t i = 0; i < region.size() && i < 4; i++)
        *named[i] = RVar(contents_, static_cast<int>(i));
}

namespace {
const RDomContents &checked(const std::shared_ptr<RDomContents> &contents) {
    if (!contents)
        throw CompileError("An undefined RDom was used" + language::nearby() +
                           ". Give it ranges, as in RDom r(0, 10).");
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
        throw CompileError(fmt::format("{} has {}, numbered from 0: there is no dimension {}.",
                                       describe(*contents_),
                                       support::counted(dimensions(), "dimension"), i));
    return RVar(contents_, i);
}

RDom::operator RVar() const {
    if (dimensions() != 1)
        throw CompileError(
            fmt::format("{} has {} dimensions, but is used as one RVar. Select the RVar, "
                        "as in {}.x.",
                        describe(*contents_), dimensions(), name()));
    return RVar(contents_, 0);
}

RDom::operator Expr() const {
    return RVar(*this);
}

namespace {

/// The condition must not own the RDom that owns it.
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

void RDom::where(const Expr &condition, SourceLocation at) {
    dimensions();  // must be defined
    language::passed(at);
    std::string label = fmt::format("{}: where(){}", describe(*contents_), language::at(at));
    if (!condition.defined() || !condition.type().is_bool())
        throw CompileError(
            fmt::format("{} takes a bool, not {}. Compare with 0, as in x != 0.", label,
                        condition.defined() ? language::describe(condition) : "an undefined Expr"));
    if (contents_->used)
        throw CompileError(fmt::format(
            "{} is called after the RDom was used in a definition. Call it before.", label));
    Expr detached = DetachRDom(contents_.get()).mutate(condition);
    contents_->predicate =
        contents_->predicate.defined() ? contents_->predicate && detached : detached;
}

}  // namespace Pipe
