# Installs the library, its headers, the plugins and the package that an out-of-tree plugin finds.
include(CMakePackageConfigHelpers)

install(TARGETS sextant sextant_abi sextant_plugin EXPORT SextantTargets
  LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
if(TARGET sextant_cli)
  install(TARGETS sextant_cli RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
endif()
install(DIRECTORY framework/sextant DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} FILES_MATCHING PATTERN "*.hpp")
install(EXPORT SextantTargets NAMESPACE Sextant:: DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/Sextant)

configure_package_config_file(framework/cmake/SextantConfig.cmake.in ${CMAKE_BINARY_DIR}/package/SextantConfig.cmake
  INSTALL_DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/Sextant)
write_basic_package_version_file(${CMAKE_BINARY_DIR}/package/SextantConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_BINARY_DIR}/package/SextantConfig.cmake ${CMAKE_BINARY_DIR}/package/SextantConfigVersion.cmake
  framework/cmake/SextantPlugin.cmake DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/Sextant)
