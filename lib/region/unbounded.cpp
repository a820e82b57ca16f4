#include "region/unbounded.h"

#include <map>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "ir/substitute.h"
#include "poly/range_program.h"

namespace Pipe::region {

using namespace ir;

namespace {

constexpr int samples = 64;
constexpr int magnitudes[] = {4, 16, 28, 28};  // in bits
constexpr int64_t limit = int64_t(1) << 20;

class Evaluation {
  public:
    Evaluation(const Linear &sum, const Variables &variables)
        : variables_(variables), constant_(sum.constant) {
        for (const Linear::Term &term : sum.terms)
            define(term.atom);
        for (const Linear::Term &term : sum.terms)
            terms_.push_back({program_.add(term.atom), term.coefficient});
        for (auto &[name, extent] : free_)
            used_.push_back({program_.find(name), extent});
    }

    /// Of the sum, at the next values of its variables.
    poly::Range sample() {
        for (const Free &variable : used_)
            if (variable.slot >= 0)
                program_.set(variable.slot, poly::Range::point(next(variable.extent)));
        program_.evaluate();
        poly::Range value = poly::Range::point(constant_);
        for (const auto &[slot, coefficient] : terms_)
            value = value + program_[slot] * coefficient;
        return value;
    }

  private:
    struct Free {
        poly::RangeProgram::Slot slot;
        std::optional<int64_t> extent;
    };

    /// The lets that it uses, and those that their values use.
    void define(const Expr &e) {
        for (const std::string &name : free_vars(e)) {
            if (!seen_.insert(name).second)
                continue;
            if (const Expr value = variables_.let_of(name).first; value.defined()) {
                program_.define(name, value);
                define(value);
            } else {
                free_.emplace(name, variables_.extent_of(name));
            }
        }
    }

    /// In a loop, an iteration; else a number of any magnitude, as the operand that a minimum takes depends on it.
    /// More are positive, as sizes are.
    int64_t next(const std::optional<int64_t> &extent) {
        const int64_t bits = int64_t(random_() >> 1);
        if (extent)
            return *extent > 0 ? bits % *extent : 0;
        const int64_t magnitude = (bits >> 8) % (int64_t(1) << magnitudes[bits % 4]);
        return (bits >> 5) % 4 ? magnitude : -magnitude;
    }

    const Variables &variables_;
    poly::RangeProgram program_;
    const int64_t constant_;
    std::vector<poly::RangeProgram::Term> terms_;
    std::set<std::string> seen_;
    std::map<std::string, std::optional<int64_t>> free_;
    std::vector<Free> used_;
    std::mt19937_64 random_;  // from the same seed each time
};

}  // namespace

bool is_unbounded(const Linear &sum, const Variables &variables) {
    if (sum.terms.empty())
        return false;
    Evaluation evaluation(sum, variables);
    for (int i = 0; i < samples; ++i)
        if (const poly::Range value = evaluation.sample(); !value.is_empty() && value.min > limit)
            return true;
    return false;
}

}  // namespace Pipe::region
