# SPDX-License-Identifier: Apache-2.0
# Finds the Arrow C++ headers and libraries inside a pyarrow wheel, which ships no CMake
# package of its own and no unversioned .so names.
#
# Input, the first that is set wins:
#   XSHARDS_PYARROW_DIR  the installed pyarrow folder
#   Python3_EXECUTABLE   a Python that has pyarrow
#   the python3 that find_package(Python3) finds
# Result: XSHARDS_PYARROW_DIR, XShardsArrow_VERSION and the imported targets
#   XShardsArrow::{arrow,compute,acero,dataset,parquet}, and, where the wheel has them,
#   XShardsArrow::{flight,python}.

if(NOT XSHARDS_PYARROW_DIR)
  if(NOT Python3_EXECUTABLE)
    find_package(Python3 COMPONENTS Interpreter)
  endif()
  # find_spec locates the package without the cost of importing it.
  execute_process(
    COMMAND
      "${Python3_EXECUTABLE}" -c
      "import importlib.util as u; s = u.find_spec('pyarrow'); print(s.submodule_search_locations[0] if s else '')"
    OUTPUT_VARIABLE _pyarrow_dir
    OUTPUT_STRIP_TRAILING_WHITESPACE)
  set(XSHARDS_PYARROW_DIR "${_pyarrow_dir}"
      CACHE PATH "The pyarrow folder that Arrow is taken from" FORCE)
endif()

set(_config "${XSHARDS_PYARROW_DIR}/include/arrow/util/config.h")
if(EXISTS "${_config}")
  file(STRINGS "${_config}" _lines REGEX "define ARROW_(VERSION_STRING|SO_VERSION) ")
  string(REGEX REPLACE ".*ARROW_VERSION_STRING \"([0-9.]+).*" "\\1"
                       XShardsArrow_VERSION "${_lines}")
  string(REGEX REPLACE ".*ARROW_SO_VERSION \"([0-9]+)\".*" "\\1" _soname "${_lines}")
  string(REGEX MATCH "^[0-9]+" XShardsArrow_VERSION_MAJOR "${XShardsArrow_VERSION}")
endif()

# A major version is another soname and another ABI: nothing but the same one will do.
if(XShardsArrow_VERSION_MAJOR
   AND XShardsArrow_FIND_VERSION_MAJOR
   AND NOT XShardsArrow_VERSION_MAJOR EQUAL XShardsArrow_FIND_VERSION_MAJOR)
  set(XShardsArrow_NOT_FOUND_MESSAGE
      "pyarrow ${XShardsArrow_FIND_VERSION_MAJOR}.x is needed, found ${XShardsArrow_VERSION} in ${XSHARDS_PYARROW_DIR}")
  set(_soname "")
endif()

foreach(_pair IN ITEMS arrow:arrow compute:arrow_compute acero:arrow_acero
                       dataset:arrow_dataset parquet:parquet flight:arrow_flight
                       python:arrow_python)
  string(REPLACE ":" ";" _pair "${_pair}")
  list(GET _pair 0 _name)
  list(GET _pair 1 _library)
  set(_file "${XSHARDS_PYARROW_DIR}/lib${_library}.so.${_soname}")
  if(_soname AND EXISTS "${_file}")
    set(XShardsArrow_${_name}_LIBRARY "${_file}")
    if(NOT TARGET XShardsArrow::${_name})
      add_library(XShardsArrow::${_name} SHARED IMPORTED)
      set_target_properties(
        XShardsArrow::${_name}
        PROPERTIES IMPORTED_LOCATION "${_file}"
                   IMPORTED_SONAME "lib${_library}.so.${_soname}"
                   INTERFACE_INCLUDE_DIRECTORIES "${XSHARDS_PYARROW_DIR}/include")
      if(NOT _name STREQUAL "arrow")
        set_target_properties(XShardsArrow::${_name} PROPERTIES
                              INTERFACE_LINK_LIBRARIES XShardsArrow::arrow)
      endif()
    endif()
  endif()
endforeach()

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(
  XShardsArrow
  REQUIRED_VARS
    XSHARDS_PYARROW_DIR XShardsArrow_arrow_LIBRARY XShardsArrow_compute_LIBRARY
    XShardsArrow_acero_LIBRARY XShardsArrow_dataset_LIBRARY
    XShardsArrow_parquet_LIBRARY
  VERSION_VAR XShardsArrow_VERSION
  REASON_FAILURE_MESSAGE "${XShardsArrow_NOT_FOUND_MESSAGE}")
