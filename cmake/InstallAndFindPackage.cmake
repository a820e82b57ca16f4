# Test script: what an outside user does with an installed Pipe.

set(work ${PIPE_BUILD}/test/package)
file(REMOVE_RECURSE ${work})

function(must_run)
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE result)
  if(NOT result EQUAL 0)
    message(FATAL_ERROR "failed (${result}): ${ARGN}")
  endif()
endfunction()

must_run(${CMAKE_COMMAND} --install ${PIPE_BUILD} --prefix ${work}/prefix --config ${CONFIG})
must_run(${CMAKE_COMMAND} -S ${PIPE_PACKAGE} -B ${work}/build -G ${GENERATOR}
  -DCMAKE_CXX_COMPILER=${CXX} -DCMAKE_PREFIX_PATH=${work}/prefix)
must_run(${CMAKE_COMMAND} --build ${work}/build)
must_run(${work}/build/outside)
