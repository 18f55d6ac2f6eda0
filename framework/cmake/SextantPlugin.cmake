# sextant_add_plugin(NAME): NAME.cpp as the shared object NAME.so, in the build tree's plugins/ or out of the tree.
# In the tree, NAME_test.cpp beside it joins the binary plugins_tests.
function(sextant_add_plugin name)
  file(GLOB source CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/${name}.cpp)
  if(NOT source)
    message(WARNING "plugin ${name} is left out: there is no ${CMAKE_CURRENT_SOURCE_DIR}/${name}.cpp")
    return()
  endif()
  add_library(plugin_${name} MODULE ${CMAKE_CURRENT_SOURCE_DIR}/${name}.cpp)
  target_link_libraries(plugin_${name} PRIVATE Sextant::plugin)
  set_target_properties(plugin_${name} PROPERTIES
    PREFIX "" OUTPUT_NAME ${name} LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/plugins
    CXX_VISIBILITY_PRESET hidden VISIBILITY_INLINES_HIDDEN ON CXX_STANDARD 20 CXX_STANDARD_REQUIRED ON CXX_EXTENSIONS OFF)
  # The program that loads it has all libraries open. Without a search path of its own the file is the same wherever it was
  # built, and so are the stages of studies that are named after its bytes.
  set_target_properties(plugin_${name} PROPERTIES
    BUILD_WITH_INSTALL_RPATH ON INSTALL_RPATH "" INSTALL_RPATH_USE_LINK_PATH OFF)
  if(NOT TARGET sextant_flags)  # out of the tree: the author's own flags
    return()
  endif()
  target_link_libraries(plugin_${name} PRIVATE sextant_flags)
  sextant_compile_as(plugins plugin_${name})
  install(TARGETS plugin_${name} LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}/sextant/plugins)
  set_property(GLOBAL APPEND PROPERTY sextant_plugins plugin_${name})
  if(EXISTS ${CMAKE_CURRENT_SOURCE_DIR}/${name}_test.cpp)
    set_property(GLOBAL APPEND PROPERTY sextant_plugin_tests ${CMAKE_CURRENT_SOURCE_DIR}/${name}_test.cpp)
  endif()
endfunction()
