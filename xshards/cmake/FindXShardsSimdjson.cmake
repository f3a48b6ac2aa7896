# SPDX-License-Identifier: Apache-2.0
# Finds simdjson.h and simdjson.cpp of simdjson 3.12.3; downloads them, pinned by hash,
# where they are missing.
#
# Input: XSHARDS_SIMDJSON_DIR, a folder that holds both files. It is taken as it is where
#   the user names it; by default it is build/third_party below the source tree, which all
#   presets share.
# Result: XSHARDS_SIMDJSON_DIR holds both files. io/json/simdjson.cc compiles them, as part
#   of our library and in a namespace of its own.

set(_default "${PROJECT_SOURCE_DIR}/build/third_party/simdjson-3.12.3")
set(XSHARDS_SIMDJSON_DIR "${_default}"
    CACHE PATH "The folder that holds simdjson.h and simdjson.cpp")

if(XSHARDS_SIMDJSON_DIR STREQUAL _default)
  if(NOT Python3_EXECUTABLE)
    find_package(Python3 COMPONENTS Interpreter)
  endif()
  execute_process(
    COMMAND "${Python3_EXECUTABLE}" "${PROJECT_SOURCE_DIR}/.ci/fetch_simdjson.py"
            "${XSHARDS_SIMDJSON_DIR}"
    RESULT_VARIABLE _status)
  if(NOT _status EQUAL 0)
    set(XShardsSimdjson_NOT_FOUND_MESSAGE "Fetching simdjson failed, see above")
  endif()
endif()

find_file(XShardsSimdjson_SOURCE simdjson.cpp
          PATHS "${XSHARDS_SIMDJSON_DIR}" NO_DEFAULT_PATH NO_CACHE)
include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(
  XShardsSimdjson
  REQUIRED_VARS XShardsSimdjson_SOURCE
  REASON_FAILURE_MESSAGE "${XShardsSimdjson_NOT_FOUND_MESSAGE}")
