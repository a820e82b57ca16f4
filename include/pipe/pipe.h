#pragma once
// All of Pipe.

#include <pipe/autoschedule.h>
#include <pipe/boundary_conditions.h>
#include <pipe/buffer.h>
#include <pipe/callable.h>
#include <pipe/environment.h>
#include <pipe/error.h>
#include <pipe/expr.h>
#include <pipe/float16.h>
#include <pipe/func.h>
#include <pipe/image_io.h>
#include <pipe/inline_reductions.h>
#include <pipe/jit.h>
#include <pipe/lambda.h>
#include <pipe/loop_level.h>
#include <pipe/operators.h>
#include <pipe/param.h>
#include <pipe/pipeline.h>
#include <pipe/rdom.h>
#include <pipe/schedule.h>
#include <pipe/target.h>
#include <pipe/tuple.h>
#include <pipe/type.h>
#include <pipe/var.h>
