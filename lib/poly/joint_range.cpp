#include "poly/joint_range.h"

// Spaces:
//   Stage[v0, ..., n0, ...]     the variables, then the unknown numbers
//   { Stage[v, n] -> [x] }      the index
//   [n0, ...] -> { [x] }        its values, with the unknown numbers as parameters

#include <optional>

#include <isl/aff.h>
#include <isl/cpp.h>
#include <isl/ctx.h>
#include <isl/map.h>
#include <isl/options.h>
#include <isl/set.h>
#include <isl/val.h>

#include "ir/simplify.h"
#include "ir/visit.h"
#include "poly/affine.h"

namespace Pipe::poly {

using namespace ir;

namespace {

/// A question beyond these takes longer than its answer is worth.
constexpr unsigned long max_operations = 20000;
constexpr size_t max_names = 10;

class Question {
  public:
    Question(isl::ctx ctx, const Expr &index, const JointDomain &domain)
        : type_(index.type()), domain_(domain) {
        for (const JointDomain::Variable &v : domain.variables) add_name(make_variable(type_, v.name));
        for (const JointDomain::Variable &v : domain.variables) {
            add_names_of(v.min);
            add_names_of(v.max);
        }
        for (const Expr &condition : domain.conditions) add_names_of(condition);
        add_names_of(index);
        if (names_.size() > max_names) throw NotAffine();
        space_ = isl::space::unit(ctx).add_named_tuple("Stage", static_cast<unsigned>(names_.size()));
        for (size_t i = 0; i < names_.size(); i++)
            positions_.push_back(space_.identity_multi_aff_on_domain().at(static_cast<int>(i)));
        Affine affine(space_, nothing_, [this](const std::string &name) { return position(name); });
        values_ = affine.value(index).intersect_domain(points(affine));
    }

    JointRange answer() {
        JointRange result;
        isl::val least = values_.min_val(), most = values_.max_val();
        if (least.is_int()) result.least = make_int(type_, least.num_si());
        if (most.is_int()) result.most = make_int(type_, most.num_si());
        isl_map *map = isl_map_from_pw_aff(values_.copy());
        auto n = static_cast<unsigned>(domain_.variables.size());
        auto unknown = static_cast<unsigned>(names_.size()) - n;
        map = isl_map_reset_tuple_id(map, isl_dim_in);
        map = isl_map_move_dims(map, isl_dim_param, 0, isl_dim_in, n, unknown);
        isl_set *all = isl_map_range(map);  // [n0, ...] -> { [x] }
        isl_set *context = isl_set_params(isl_set_copy(all));
        result.min = end(isl_set_dim_min(isl_set_copy(all), 0), isl_set_copy(context));
        result.max = end(isl_set_dim_max(all, 0), context);
        return result;
    }

  private:
    void add_name(const Expr &variable) {
        if (variable.type() != type_) throw NotAffine();
        for (const Expr &known : names_)
            if (known->name == variable->name) return;
        names_.push_back(variable);
    }

    void add_names_of(const Expr &e) {
        if (!e.defined()) return;
        walk(e, [&](const Expr &node) {
            if (node->op == Op::Variable) add_name(node);
            return names_.size() <= max_names;
        });
    }

    std::optional<isl::pw_aff> position(const std::string &name) const {
        for (size_t i = 0; i < names_.size(); i++)
            if (names_[i]->name == name) return isl::pw_aff(positions_[i]);
        return std::nullopt;
    }

    isl::set points(Affine &affine) const {  // { Stage[v, n] }
        isl::set all = space_.universe_set();
        for (size_t i = 0; i < domain_.variables.size(); i++) {
            const JointDomain::Variable &v = domain_.variables[i];
            isl::pw_aff at(positions_[i]);
            if (v.min.defined()) all = all.intersect(at.ge_set(affine.value(v.min)));
            if (v.max.defined()) all = all.intersect(at.le_set(affine.value(v.max)));
        }
        for (const Expr &condition : domain_.conditions)
            all = all.intersect(affine.value(condition).le_set(number(space_, 0)));
        return all;
    }

    /// The one formula of a function of the unknown numbers, where any value is taken at all.
    Expr end(isl_pw_aff *f, isl_set *context) const {
        f = isl_pw_aff_coalesce(isl_pw_aff_gist(f, context));
        Expr result;
        if (f && isl_pw_aff_isa_aff(f) == isl_bool_true)
            result = formula(isl::manage(isl_pw_aff_as_aff(isl_pw_aff_copy(f))));
        isl_pw_aff_free(f);
        return result.defined() ? simplify(result) : result;
    }

    /// (sum of integers times numbers and floors) / denominator, which divides it.
    Expr formula(const isl::aff &f) const {
        isl::val denominator = isl::manage(isl_aff_get_denominator_val(f.get()));
        auto integer = [&](isl_val *v) {
            isl::val scaled = isl::manage(isl_val_mul(v, denominator.copy()));
            return make_int(type_, scaled.num_si());
        };
        Expr sum = integer(isl_aff_get_constant_val(f.get()));
        const int unknown = isl_aff_dim(f.get(), isl_dim_param);
        for (int i = 0; i < unknown; i++)
            sum = add(sum, mul(names_[domain_.variables.size() + static_cast<size_t>(i)],
                               integer(isl_aff_get_coefficient_val(f.get(), isl_dim_param, i))));
        const int floors = isl_aff_dim(f.get(), isl_dim_div);
        for (int i = 0; i < floors; i++) {
            Expr factor = integer(isl_aff_get_coefficient_val(f.get(), isl_dim_div, i));
            if (!is_const(factor, 0)) sum = add(sum, mul(floor_of(f, i), factor));
        }
        return div(sum, make_int(type_, denominator.num_si()));
    }

    /// What formula() divides by is what the floor rounds down: an Expr's division does so too.
    Expr floor_of(const isl::aff &f, int i) const { return formula(isl::manage(isl_aff_get_div(f.get(), i))); }

    Type type_;
    const JointDomain &domain_;
    const Environment nothing_;
    std::vector<Expr> names_;  ///< the variables first
    isl::space space_;
    std::vector<isl::aff> positions_;
    isl::pw_aff values_;  // { Stage[v, n] -> [x] }
};

}  // namespace

JointRange joint_range(const Expr &index, const JointDomain &domain) {
    isl_ctx *raw = isl_ctx_alloc();
    isl_options_set_on_error(raw, ISL_ON_ERROR_CONTINUE);  // no text on the user's screen
    isl_ctx_set_max_operations(raw, max_operations);
    JointRange result;
    try {
        result = Question(isl::ctx(raw), index, domain).answer();
    } catch (const NotAffine &) {
    } catch (const isl::exception &) {  // the quota, as a rule
    }
    isl_ctx_free(raw);
    return result;
}

}  // namespace Pipe::poly
