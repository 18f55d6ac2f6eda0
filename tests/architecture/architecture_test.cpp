#include <unistd.h>

#include <architecture/arrows.hpp>
#include <catch2/catch_test_macros.hpp>
#include <cstdlib>
#include <fstream>
#include <sextant/base/error.hpp>

using Strings = std::vector<std::string>;
namespace fs = std::filesystem;

namespace {
fs::path source() { return std::getenv("SEXTANT_SOURCE"); }

/// A checkout of two rooms, to plant faults in.
struct Checkout {
  fs::path root = fs::temp_directory_path() / ("sextant-architecture-" + std::to_string(::getpid()));
  Checkout() {
    put("framework/CMakeLists.txt", "sextant_room(base)\nsextant_room(spec USES base LINKS yaml-cpp)  # a comment\n");
    put("framework/sextant/base/error.hpp", "#include <string>\n");
    put("framework/sextant/spec/spec.cpp", "#include <yaml-cpp/yaml.h>\n#include <sextant/base/error.hpp>\n");
  }
  ~Checkout() { fs::remove_all(root); }
  void put(std::string const& path, std::string const& text) const {
    fs::create_directories((root / path).parent_path());
    std::ofstream(root / path) << text;
  }
};
}  // namespace

TEST_CASE("architecture: every include follows an arrow that framework/CMakeLists.txt names", "[architecture]") {
  for (std::string const& violation : test::violations(source())) FAIL_CHECK(violation);
}

TEST_CASE("architecture: nothing stands at the top level but what was agreed", "[architecture]") {
  CHECK(test::stray_entries(source()) == Strings{});
}

TEST_CASE("architecture: the rooms are read with their arrows and without their libraries", "[architecture]") {
  auto const rooms =
      test::read_rooms("# sextant_room(no)\nsextant_room(base)\nsextant_room(spec  USES base encoding LINKS y)\n");
  REQUIRE(rooms.size() == 2);
  CHECK(rooms[0].uses.empty());
  CHECK(rooms[1].name == "spec");
  CHECK(rooms[1].uses == std::set<std::string>{"base", "encoding"});
}

TEST_CASE("architecture: the checker passes a good checkout and names each planted fault", "[architecture]") {
  Checkout const checkout;
  REQUIRE(test::violations(checkout.root) == Strings{});

  checkout.put("framework/sextant/base/bad.cpp", "#include <vector>\n#  include <sextant/spec/spec.hpp>\n");
  CHECK(test::violations(checkout.root) ==
        Strings{
            "framework/sextant/base/bad.cpp:2: base includes sextant/spec/spec.hpp, and its line does not name spec"});

  checkout.put("framework/sextant/spec/json.cpp", "#include <nlohmann/json.hpp>\n#include <nlohmann/json_fwd.hpp>\n");
  checkout.put("framework/sextant/base/bad.cpp", "");
  CHECK(test::violations(checkout.root) ==
        Strings{"framework/sextant/spec/json.cpp:1: nlohmann/json.hpp belongs to room base alone"});
  checkout.put("framework/sextant/spec/json.cpp", "");

  checkout.put("framework/sextant/base/bad.cpp", "#include <yaml-cpp/yaml.h>\n");
  CHECK(test::violations(checkout.root) ==
        Strings{"framework/sextant/base/bad.cpp:1: yaml-cpp/yaml.h belongs to room spec alone"});

  checkout.put("framework/sextant/base/bad.cpp", "#include <hdf5.h>\n");
  CHECK(test::violations(checkout.root) ==
        Strings{"framework/sextant/base/bad.cpp:1: hdf5.h belongs to room results alone"});

  checkout.put("framework/sextant/base/bad.cpp", "#include \"error.hpp\"\n");
  CHECK(test::violations(checkout.root) ==
        Strings{"framework/sextant/base/bad.cpp:1: \"error.hpp\" is quoted; write <sextant/ROOM/FILE>"});
  fs::remove(checkout.root / "framework/sextant/base/bad.cpp");

  checkout.put("framework/sextant/attic/old.hpp", "");
  CHECK(test::violations(checkout.root) ==
        Strings{"framework/sextant/attic/old.hpp: room attic has no line in framework/CMakeLists.txt"});
  fs::remove_all(checkout.root / "framework/sextant/attic");

  checkout.put("plugins/rope/rope.cpp", "#include <sextant/kernels/matmul.hpp>\n");
  CHECK(test::violations(checkout.root) ==
        Strings{"plugins/rope/rope.cpp:1: a plugin includes sextant/kernels/matmul.hpp; "
                "it may include sextant/plugin.hpp and sextant/encoding/..., and kernels/small_matmul.hpp or "
                "row_math.hpp"});
  fs::remove_all(checkout.root / "plugins");

  checkout.put("framework/CMakeLists.txt", "sextant_room(spec USES base)\nsextant_room(base)\n");
  CHECK(test::violations(checkout.root) == Strings{"spec uses base, which does not stand above it"});
}

TEST_CASE("architecture: the checker names a stray folder and looks past dot files and builds", "[architecture]") {
  Checkout const checkout;
  checkout.put("build-debug/x", "");
  checkout.put(".editorconfig", "");
  REQUIRE(test::stray_entries(checkout.root) == Strings{});
  checkout.put("utils/x.cpp", "");
  CHECK(test::stray_entries(checkout.root) == Strings{"utils"});
}
