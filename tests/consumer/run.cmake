# SPDX-License-Identifier: Apache-2.0
# Installs the build tree aside, then configures, builds and runs the consumer on it.
set(work "${BUILD_DIR}/consumer")
file(REMOVE_RECURSE "${work}")

function(run)
  execute_process(COMMAND ${ARGN} COMMAND_ERROR_IS_FATAL ANY)
endfunction()

run(${CMAKE_COMMAND} --install "${BUILD_DIR}" --prefix "${work}/prefix"
    --component development)
# Executors are no part of the API: no header of theirs may be installed.
foreach(header IN ITEMS ops io/operators.h io/csv/block_reader.h xshards/pch.h)
  if(EXISTS "${work}/prefix/include/xshards-1/${header}")
    message(FATAL_ERROR "${header} is installed, though no public header includes it")
  endif()
endforeach()
run(${CMAKE_COMMAND} -G Ninja -S "${CMAKE_CURRENT_LIST_DIR}" -B "${work}/build"
    "-DCMAKE_CXX_COMPILER=${CXX}" "-DCMAKE_CXX_COMPILER_LAUNCHER=${CCACHE}"
    "-DCMAKE_PREFIX_PATH=${work}/prefix" "-DXSHARDS_PYARROW_DIR=${PYARROW_DIR}")
run(${CMAKE_COMMAND} --build "${work}/build")
run("${work}/build/consumer")
