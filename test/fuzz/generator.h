#pragma once
// Makes a random algorithm: generator.cpp has the order of things, generator_funcs.cpp the kinds of
// Funcs, generator_exprs.cpp what they are made of.

#include <string>
#include <vector>

#include "fuzz/algorithm.h"

namespace Pipe::fuzz {

class Generator {
  public:
    Generator(Choices &choices, Algorithm &algorithm) : c_(choices), a_(algorithm) {}
    void run();

  private:
    /// A variable that the expression being made may use.
    struct Variable {
        Value value;
        int id;  ///< see Index::Term::var
    };

    void add_image(int number);
    void add_boundary(int image, int number);
    void add_func(int number);
    void choose_outputs();

    void begin_func(int number, int dimensions);
    void finish_func(std::vector<Value> elements);
    void define(const std::vector<Value> &values);
    void update(const std::string &args, const std::vector<Expr> &coordinates,
                const std::vector<Value> &values, const std::vector<std::string> &loop_vars);
    RDom make_rdom(int count, int max_extent);
    void leave_rdom();

    void pure();
    void tuple();
    void reduction();
    void inline_reduction();
    void histogram();
    void scan();
    void scan_in_plane();
    void pure_updates();
    void scatter();
    void extern_stage();

    Value self(const std::vector<Value> &coordinates, int element = 0);
    std::vector<Value> own_vars() const;
    Value leaf(Type type, bool discrete);
    Value expression(Type type, int leaves, bool discrete);
    Value some_condition();
    Value with_rvar(const Value &v);
    Value narrow_term(Type type);
    Value access(int source, bool discrete, int element = -1);
    Index index(const Variable *natural, bool reduce);
    Index gather();

    Choices &c_;
    Algorithm &a_;
    Source now_;
    std::vector<Variable> variables_;
    std::vector<Access> accesses_;
    std::string rdom_;
    std::vector<LoopVar> rvars_;
    std::vector<Interval> rvar_ranges_;
    std::string where_;
    int resampled_ = 0;
    bool wide_ = false;  ///< Funcs read any of those before, not mostly the last one
};

extern const std::vector<Type> all_types;
extern const char *const var_names[3];

Value variable(const Expr &e, const std::string &text, double size);
std::string join(const std::vector<std::string> &parts);
std::vector<Expr> exprs(const std::vector<Value> &values);
std::string texts(const std::vector<Value> &values);
Value plus(const Value &v, int offset);

}  // namespace Pipe::fuzz
