#pragma once
// Executes flattened loop programs (ir/program.h) statement by statement: the oracle for every pass.
// Slow and obviously right. Vectors are lists of scalars; loops of every kind run in order.

#include <functional>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "ir/program.h"
#include "ir/scope.h"
#include "reference/value.h"

namespace Pipe::testing {

/// The program does something that no lowered program may: it reads or writes outside of a buffer,
/// uses a name that is not bound, computes with mismatched types.
struct BadProgram : std::runtime_error {
    using std::runtime_error::runtime_error;
};

/// An Assert of the program did not hold.
struct AssertFailed : std::runtime_error {
    int code;
    AssertFailed(int code_, const std::string &message)
        : std::runtime_error(message), code(code_) {}
};

/// One scalar or vector: a value per lane.
using Lanes = std::vector<reference::Value>;

/// Memory and parameters of a run, and what was counted in it.
///
///     Interpreter run;
///     run.bind("in", UInt(8), pixels.data(), 0, 40);
///     run.set_dimension("in", 0, 0, 40, 1);      // in.min.0, in.extent.0, in.stride.0
///     run.set("gain", Int(32), 3);
///     run.execute(stmt);
class Interpreter {
  public:
    /// Memory that a Load or Store names. `address` is that of element 0; the legal indices are
    /// [first, first + count). Not owned.
    void bind(const std::string &name, Type type, void *address, int64_t first, int64_t count);
    /// The free variables that describe dimension d of a buffer.
    void set_dimension(const std::string &buffer, int d, int32_t min, int32_t extent,
                       int64_t stride);
    void set(const std::string &name, Type type, int64_t value);
    void set(const std::string &name, Type type, double value);
    /// What Calls with CallKind::Extern do; the default throws BadProgram.
    std::function<reference::Value(const std::string &name, const std::vector<reference::Value> &)>
        on_extern;

    /// Throws BadProgram or AssertFailed.
    void execute(const ir::Stmt &s);
    /// The value of an expression with the present parameters and memory.
    Lanes evaluate(const Expr &e);

    /// How often an expression node of this kind was evaluated: tells how much work a pass saves.
    std::map<ir::Op, int64_t> evaluated;

  private:
    struct Memory {
        Type type;
        unsigned char *address = nullptr;
        int64_t first = 0, count = 0;
        std::vector<unsigned char> own;
        bool freed = false;
    };

    void execute_loop(const ir::Stmt &s);
    void execute_store(const ir::Stmt &s);
    void execute_allocate(const ir::Stmt &s);
    void execute_free(const ir::Stmt &s);
    [[noreturn]] void fail(const ir::Stmt &assertion);

    Lanes compute(const Expr &e);
    Lanes binary(const Expr &e);
    Lanes select(const Expr &e);
    Lanes call(const Expr &e);
    Lanes load(const Expr &e);
    Lanes ramp(const Expr &e);
    Lanes let(const Expr &e);
    Lanes reduce(const Expr &e);
    reference::Value call_lane(const Expr &e, const std::vector<reference::Value> &args);
    int64_t integer(const Expr &e);
    unsigned char *element(const std::string &buffer, Type type, int64_t index, const char *what);

    ir::Scope<std::pair<Type, Lanes>> variables_;
    ir::Scope<std::shared_ptr<Memory>> memory_;
    reference::Arithmetic arithmetic_;
};

}  // namespace Pipe::testing
