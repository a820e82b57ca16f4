#include "poly/joint_range.h"

// Spaces:
//   Stage[v0, ..., n0, ...]     the variables, then the unknown numbers
//   { Stage[v, n] -> [x] }      the index

#include <optional>

#include <isl/aff.h>
#include <isl/cpp.h>
#include <isl/ctx.h>
#include <isl/options.h>
#include <isl/val.h>

#include "ir/visit.h"
#include "poly/affine.h"

namespace Pipe::poly {

using namespace ir;

namespace {

/// Larger problems take more time than they are worth.
constexpr unsigned long max_operations = 20000;
constexpr size_t max_names = 10;
/// Minima, maxima and selects, each of which may double the number of pieces: the index of a mirrored picture has
/// 20 of them, and would use up all operations in vain.
constexpr int max_choices = 6;

bool has_few_choices(const Expr &index) {
    int choices = 0;
    std::vector<const ExprNode *> pending{
        index.get()};  // as a tree: pieces do not know what they share
    while (!pending.empty() && choices <= max_choices) {
        const ExprNode *node = pending.back();
        pending.pop_back();
        choices += node->op == Op::Min || node->op == Op::Max || node->op == Op::Select;
        for (const Expr &arg : node->args)
            if (arg.defined())
                pending.push_back(arg.get());
    }
    return choices <= max_choices;
}

class Question {
  public:
    Question(isl::ctx ctx, const Expr &index, const JointDomain &domain)
        : type_(index.type()), domain_(domain) {
        for (const JointDomain::Variable &v : domain.variables)
            add_name(make_variable(type_, v.name));
        for (const JointDomain::Variable &v : domain.variables) {
            add_names_of(v.min);
            add_names_of(v.max);
        }
        for (const Expr &condition : domain.conditions)
            add_names_of(condition);
        add_names_of(index);
        if (names_.size() > max_names)
            throw NotAffine();
        space_ =
            isl::space::unit(ctx).add_named_tuple("Stage", static_cast<unsigned>(names_.size()));
        for (size_t i = 0; i < names_.size(); i++)
            positions_.push_back(space_.identity_multi_aff_on_domain().at(static_cast<int>(i)));
        Affine affine(space_, nothing_, [this](const std::string &name) { return position(name); });
        values_ = affine.value(index).intersect_domain(points(affine));
    }

    Range answer() {
        Range result;
        isl::val least = values_.min_val(), most = values_.max_val();
        if (least.is_int())
            result.min = least.num_si();
        if (most.is_int())
            result.max = most.num_si();
        return result;
    }

  private:
    void add_name(const Expr &variable) {
        if (variable.type() != type_)
            throw NotAffine();
        for (const Expr &known : names_)
            if (known->name == variable->name)
                return;
        names_.push_back(variable);
    }

    void add_names_of(const Expr &e) {
        if (!e.defined())
            return;
        walk(e, [&](const Expr &node) {
            if (node->op == Op::Variable)
                add_name(node);
            return names_.size() <= max_names;
        });
    }

    std::optional<isl::pw_aff> position(const std::string &name) const {
        for (size_t i = 0; i < names_.size(); i++)
            if (names_[i]->name == name)
                return isl::pw_aff(positions_[i]);
        return std::nullopt;
    }

    isl::set points(Affine &affine) const {  // { Stage[v, n] }
        isl::set all = space_.universe_set();
        for (size_t i = 0; i < domain_.variables.size(); i++) {
            const JointDomain::Variable &v = domain_.variables[i];
            isl::pw_aff at(positions_[i]);
            if (v.min.defined())
                all = all.intersect(at.ge_set(affine.value(v.min)));
            if (v.max.defined())
                all = all.intersect(at.le_set(affine.value(v.max)));
        }
        for (const Expr &condition : domain_.conditions)
            all = all.intersect(affine.value(condition).le_set(number(space_, 0)));
        return all;
    }

    Type type_;
    const JointDomain &domain_;
    const Environment nothing_;
    std::vector<Expr> names_;  ///< variables first
    isl::space space_;
    std::vector<isl::aff> positions_;
    isl::pw_aff values_;  // { Stage[v, n] -> [x] }
};

}  // namespace

Range joint_range(const Expr &index, const JointDomain &domain) {
    if (!has_few_choices(index))
        return {};
    isl_ctx *raw = isl_ctx_alloc();
    isl_options_set_on_error(raw, ISL_ON_ERROR_CONTINUE);  // no output to the console
    isl_ctx_set_max_operations(raw, max_operations);
    Range result;
    try {
        result = Question(isl::ctx(raw), index, domain).answer();
    } catch (const NotAffine &) {
    } catch (const isl::exception &) {  // usually because the quota is exhausted
    }
    isl_ctx_free(raw);
    return result;
}

}  // namespace Pipe::poly
