#pragma once
// Directives that map the loops of a definition to a GPU.

#include <vector>

#include <pipe/expr.h>
#include <pipe/loop_directives.h>
#include <pipe/rdom.h>
#include <pipe/schedule.h>
#include <pipe/target.h>

namespace Pipe {

/// Maps loops to the blocks, threads and lanes of a GPU. Pipe does not generate code for GPUs yet:
/// compiling a definition with these directives is a CompileError. A program that chooses its
/// schedule by the target compiles and runs:
///
///     if (target.has_gpu_feature())
///         f.gpu_tile(x, y, xi, yi, 16, 16);
///     else
///         f.parallel(y).vectorize(x, 8);
///
/// \param Self  Stage or Func, which each directive returns
template <typename Self> class GPUDirectives : public LoopDirectives<Self> {
  public:
    using Loop = VarOrRVar;  ///< of the definition

    /// Maps the iterations of these loops to blocks of threads.
    Self &gpu_blocks(const Loop &x, DeviceAPI api = DeviceAPI::Default_GPU) {
        return mark(LoopKind::GPUBlock, {x}, api);
    }
    Self &gpu_blocks(const Loop &x, const Loop &y, DeviceAPI api = DeviceAPI::Default_GPU) {
        return mark(LoopKind::GPUBlock, {x, y}, api);
    }
    Self &gpu_blocks(const Loop &x, const Loop &y, const Loop &z,
                     DeviceAPI api = DeviceAPI::Default_GPU) {
        return mark(LoopKind::GPUBlock, {x, y, z}, api);
    }
    /// Maps the iterations of these loops to the threads of a block.
    Self &gpu_threads(const Loop &x, DeviceAPI api = DeviceAPI::Default_GPU) {
        return mark(LoopKind::GPUThread, {x}, api);
    }
    Self &gpu_threads(const Loop &x, const Loop &y, DeviceAPI api = DeviceAPI::Default_GPU) {
        return mark(LoopKind::GPUThread, {x, y}, api);
    }
    Self &gpu_threads(const Loop &x, const Loop &y, const Loop &z,
                      DeviceAPI api = DeviceAPI::Default_GPU) {
        return mark(LoopKind::GPUThread, {x, y, z}, api);
    }
    /// Maps the iterations of this loop to the lanes of a warp.
    Self &gpu_lanes(const Loop &x, DeviceAPI api = DeviceAPI::Default_GPU) {
        return mark(LoopKind::GPULane, {x}, api);
    }
    /// Runs all loops in one thread of one block.
    Self &gpu_single_thread(DeviceAPI api = DeviceAPI::Default_GPU);

    /// gpu_blocks() on the first half of the loops, gpu_threads() on the rest.
    Self &gpu(const Loop &block, const Loop &thread, DeviceAPI api = DeviceAPI::Default_GPU) {
        gpu_blocks(block, api);
        return gpu_threads(thread, api);
    }
    Self &gpu(const Loop &bx, const Loop &by, const Loop &tx, const Loop &ty,
              DeviceAPI api = DeviceAPI::Default_GPU) {
        gpu_blocks(bx, by, api);
        return gpu_threads(tx, ty, api);
    }
    Self &gpu(const Loop &bx, const Loop &by, const Loop &bz, const Loop &tx, const Loop &ty,
              const Loop &tz, DeviceAPI api = DeviceAPI::Default_GPU) {
        gpu_blocks(bx, by, bz, api);
        return gpu_threads(tx, ty, tz, api);
    }

    /// tile() into blocks of this many threads. Without names for the block loops, these keep the
    /// old names.
    Self &gpu_tile(const Loop &x, const Loop &bx, const Loop &tx, const Expr &x_size,
                   TailStrategy tail = TailStrategy::Auto, DeviceAPI api = DeviceAPI::Default_GPU) {
        return tile_for({x}, {bx}, {tx}, {x_size}, tail, api);
    }
    Self &gpu_tile(const Loop &x, const Loop &tx, const Expr &x_size,
                   TailStrategy tail = TailStrategy::Auto, DeviceAPI api = DeviceAPI::Default_GPU) {
        return tile_for({x}, {x}, {tx}, {x_size}, tail, api);
    }
    Self &gpu_tile(const Loop &x, const Loop &y, const Loop &bx, const Loop &by, const Loop &tx,
                   const Loop &ty, const Expr &x_size, const Expr &y_size,
                   TailStrategy tail = TailStrategy::Auto, DeviceAPI api = DeviceAPI::Default_GPU) {
        return tile_for({x, y}, {bx, by}, {tx, ty}, {x_size, y_size}, tail, api);
    }
    Self &gpu_tile(const Loop &x, const Loop &y, const Loop &tx, const Loop &ty, const Expr &x_size,
                   const Expr &y_size, TailStrategy tail = TailStrategy::Auto,
                   DeviceAPI api = DeviceAPI::Default_GPU) {
        return tile_for({x, y}, {x, y}, {tx, ty}, {x_size, y_size}, tail, api);
    }
    Self &gpu_tile(const Loop &x, const Loop &y, const Loop &z, const Loop &bx, const Loop &by,
                   const Loop &bz, const Loop &tx, const Loop &ty, const Loop &tz,
                   const Expr &x_size, const Expr &y_size, const Expr &z_size,
                   TailStrategy tail = TailStrategy::Auto, DeviceAPI api = DeviceAPI::Default_GPU) {
        return tile_for({x, y, z}, {bx, by, bz}, {tx, ty, tz}, {x_size, y_size, z_size}, tail, api);
    }
    Self &gpu_tile(const Loop &x, const Loop &y, const Loop &z, const Loop &tx, const Loop &ty,
                   const Loop &tz, const Expr &x_size, const Expr &y_size, const Expr &z_size,
                   TailStrategy tail = TailStrategy::Auto, DeviceAPI api = DeviceAPI::Default_GPU) {
        return tile_for({x, y, z}, {x, y, z}, {tx, ty, tz}, {x_size, y_size, z_size}, tail, api);
    }

  protected:
    using LoopDirectives<Self>::stage;
    using LoopDirectives<Self>::self;

  private:
    Self &mark(LoopKind kind, const std::vector<VarOrRVar> &loops, DeviceAPI api);
    Self &tile_for(const std::vector<VarOrRVar> &old, const std::vector<VarOrRVar> &blocks,
                   const std::vector<VarOrRVar> &threads, const std::vector<Expr> &sizes,
                   TailStrategy tail, DeviceAPI api);
};

}  // namespace Pipe
