# SPDX-License-Identifier: Apache-2.0
# Installs the public headers and the headers of this project that they include. Runs at
# installation, so that an include added since the last configuration is followed.
# Input: xshards_source_dir, xshards_public_headers (relative to it) and
# xshards_include_dir (relative to the prefix).
cmake_policy(VERSION 3.25)
set(pending ${xshards_public_headers})
set(installed)
while(pending)
  list(POP_FRONT pending header)
  if(header IN_LIST installed)
    continue()
  endif()
  if(header MATCHES "internal[^/]*\\.h$")
    message(FATAL_ERROR "A public header includes ${header}, which is internal")
  endif()
  list(APPEND installed "${header}")
  get_filename_component(folder "${header}" DIRECTORY)
  file(INSTALL "${xshards_source_dir}/${header}"
       DESTINATION "${CMAKE_INSTALL_PREFIX}/${xshards_include_dir}/${folder}")
  file(STRINGS "${xshards_source_dir}/${header}" includes REGEX "^ *# *include +\"")
  list(TRANSFORM includes REPLACE "^[^\"]*\"([^\"]*)\".*" "\\1")
  list(APPEND pending ${includes})
endwhile()
