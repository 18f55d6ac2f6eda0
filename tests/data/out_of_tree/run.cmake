# Installs the build BUILD, builds the plugin beside this file against it as a stranger would, and asks the installed program
# about it. Everything happens below SCRATCH.
function(step)
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE status OUTPUT_VARIABLE out ERROR_VARIABLE out)
  if(NOT status EQUAL 0)
    message(FATAL_ERROR "status ${status}: ${ARGN}\n${out}")
  endif()
  set(out "${out}" PARENT_SCOPE)
endfunction()

file(REMOVE_RECURSE ${SCRATCH})
step(${CMAKE_COMMAND} --install ${BUILD} --prefix ${SCRATCH}/prefix)
step(${CMAKE_COMMAND} -S ${CMAKE_CURRENT_LIST_DIR} -B ${SCRATCH}/build -G Ninja -DCMAKE_BUILD_TYPE=Release
  -DSextant_ROOT=${SCRATCH}/prefix)
step(${CMAKE_COMMAND} --build ${SCRATCH}/build)
step(${CMAKE_COMMAND} -E env SEXTANT_PLUGIN_PATH=${SCRATCH}/build/plugins ${SCRATCH}/prefix/bin/sextant list encodings)
foreach(name tilt rope)  # the stranger's own, and one of the installed
  if(NOT out MATCHES "(^|[^a-z])${name}([^a-z]|$)")
    message(FATAL_ERROR "the installed program does not list ${name}:\n${out}")
  endif()
endforeach()
file(REMOVE_RECURSE ${SCRATCH})
