# SPDX-License-Identifier: Apache-2.0
#
# dynsel_amalgamation(<python> <.config> <name> <folder>): writes dynsel.c and include/ into a folder while CMake
# configures, and again if a source or the .config changed.

set(dynsel_top ${CMAKE_CURRENT_LIST_DIR}/../..)

function(dynsel_amalgamation python config name folder)
  execute_process(
    COMMAND ${python} ${dynsel_top}/tools/dynsel-amalgamation --config ${config} --name ${name} --output ${folder}
    RESULT_VARIABLE status
    ERROR_VARIABLE said)
  if(NOT status EQUAL 0)
    message(FATAL_ERROR "${said}")
  endif()
  file(GLOB_RECURSE inputs ${dynsel_top}/src/* ${dynsel_top}/include/* ${dynsel_top}/site_scons/dynsel_build/*.py)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${config} ${inputs} ${dynsel_top}/boards/targets.yaml)
endfunction()
