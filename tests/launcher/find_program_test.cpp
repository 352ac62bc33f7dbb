#include "find_program.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "variable.hpp"

namespace photonrun {
namespace {

namespace fs = std::filesystem;

class FindProgram : public testing::Test {
 protected:
  FindProgram() {
    fs::create_directories(folder_ / "one");
    fs::create_directories(folder_ / "two");
  }
  ~FindProgram() override { fs::remove_all(folder_); }

  std::string make(const std::string& name, fs::perms perms = fs::perms::owner_all) const {
    const fs::path path = folder_ / name;
    std::ofstream(path) << "#!/bin/sh\n";
    fs::permissions(path, perms);
    return path.string();
  }
  std::string path() const { return (folder_ / "one").string() + ":" + (folder_ / "two").string(); }

  const fs::path folder_ =
      fs::temp_directory_path() / ("photon_find_" + std::to_string(::getpid()));
};

TEST_F(FindProgram, takes_a_name_with_a_slash_as_it_is) {
  EXPECT_EQ(find_program("./no-such-thing"), "./no-such-thing");
}

TEST_F(FindProgram, takes_the_first_on_path_that_can_be_started) {
  const photon::test::Variable variable("PATH", path().c_str());
  const std::string second = make("two/a-program");
  EXPECT_EQ(find_program("a-program"), second);
  make("one/a-program", fs::perms::owner_read);
  EXPECT_EQ(find_program("a-program"), second) << "no program";
  fs::remove(folder_ / "one/a-program");
  fs::create_directory(folder_ / "one/a-program");
  EXPECT_EQ(find_program("a-program"), second) << "a folder";
  fs::remove(folder_ / "one/a-program");
  const std::string first = make("one/a-program");
  EXPECT_EQ(find_program("a-program"), first);
}

TEST_F(FindProgram, finds_its_neighbours_behind_path) {
  const photon::test::Variable variable("PATH", path().c_str());
  const fs::path own = fs::read_symlink("/proc/self/exe");
  EXPECT_EQ(find_program(own.filename()), own.string());
  const std::string on_path = make("one/" + own.filename().string());
  EXPECT_EQ(find_program(own.filename()), on_path);
}

TEST_F(FindProgram, leaves_a_name_that_is_nowhere_to_exec_and_has_advice_for_one_that_is_here) {
  const photon::test::Variable variable("PATH", path().c_str());
  EXPECT_EQ(find_program("a-program"), "a-program");
  EXPECT_EQ(advice_for("a-program"), "");
  const fs::path before = fs::current_path();
  make("a-program");
  fs::current_path(folder_);
  const std::string advice = advice_for("a-program");
  fs::current_path(before);
  EXPECT_NE(advice.find("./a-program"), std::string::npos) << advice;
}

}  // namespace
}  // namespace photonrun
