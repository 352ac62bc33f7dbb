// The programs in README.md and the tutorial: compiled and run as they stand there.
#include <gtest/gtest.h>
#include <photon/types.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <stdexcept>
#include <string>

#include "command.hpp"

namespace photon::test {
namespace {

const std::string kSource = PHOTON_SOURCE_DIR;
const std::string kLibraries = PHOTON_BIN_DIR "/../lib";

// The first block of a page, or of what follows a heading, that is marked with this language.
std::string program_in(const std::string& page, const std::string& language,
                       const std::string& heading) {
  std::ifstream file(kSource + "/" + page);
  const std::string text(std::istreambuf_iterator<char>(file), {});
  const std::string opening = "```" + language + "\n";
  const std::size_t begin = heading.empty() ? 0 : text.find("\n" + heading);
  if (begin == std::string::npos) throw std::runtime_error(page + " has no " + heading);
  const std::size_t start = text.find(opening, begin);
  const std::size_t end = text.find("\n```", start);
  if (start == std::string::npos || end == std::string::npos)
    throw std::runtime_error(page + " has no " + language + " program");
  return text.substr(start + opening.size(), end + 1 - start - opening.size());
}

class Docs : public testing::Test {
 protected:
  Docs() {
    std::string pattern = testing::TempDir() + "/photon_docs_XXXXXX";
    if (::mkdtemp(pattern.data()) == nullptr) throw std::runtime_error("no temporary folder");
    folder_ = pattern;
  }
  ~Docs() override { std::filesystem::remove_all(folder_); }

  void SetUp() override {
    const std::string look = "nm -D " + kLibraries + "/libphoton.so | grep -q '__[atu][a-z]*san_'";
    if (run_command(look).exit_status == 0)
      GTEST_SKIP() << "a sanitized library does not link into a plain program";
  }

  // Compiles the program and runs it on so many ranks: its output.
  std::string run(const std::string& page, const std::string& language, int ranks_count,
                  const std::string& heading = "") {
    const std::string source = folder_ + "/program." + language;
    const std::string program = folder_ + "/program";
    std::ofstream(source) << program_in(page, language, heading);
    const std::string compiler = language == "c" ? "cc -std=c11" : "c++ -std=c++20";
    const CommandResult compiled =
        run_command(compiler + " -Wall -Wextra -Wpedantic -Werror -I" + kSource + "/include -I" +
                    kSource + "/include/compat " + source + " -o " + program + " -L" + kLibraries +
                    " -lphoton_task -lphoton -Wl,-rpath," + kLibraries + " 2>&1");
    EXPECT_EQ(compiled.exit_status, 0) << compiled.output;
    const CommandResult result =
        run_command(kRun + " -n " + std::to_string(ranks_count) + " " + program + " 2>&1");
    EXPECT_EQ(result.exit_status, 0) << result.output;
    return result.output;
  }

 private:
  std::string folder_;
};

TEST_F(Docs, the_first_program_of_the_readme_works) {
  const std::string output = run("README.md", "c", 4);
  EXPECT_NE(output.find("rank 0 holds 3, sent by rank 3"), std::string::npos) << output;
  EXPECT_NE(output.find("rank 2 holds 1, sent by rank 1"), std::string::npos) << output;
}

TEST_F(Docs, the_c_program_of_the_tutorial_works) {
  const std::string output = run("docs/tutorial.md", "c", 4);
  EXPECT_NE(output.find("sum of the first 4000 squares: 21325334000"), std::string::npos) << output;
}

TEST_F(Docs, the_cpp_program_of_the_tutorial_works) {
  EXPECT_EQ(run("docs/tutorial.md", "cpp", 4), "sum: 9\n");
}

// However the ranks shared them, each task was done once.
TEST_F(Docs, the_c_program_of_active_messages_works) {
  std::istringstream output(run("docs/tutorial.md", "c", 4, "## 8."));
  unsigned tasks_done = 0;
  for (std::string line; std::getline(output, line);) {
    const std::size_t did = line.find(" did ");
    ASSERT_NE(did, std::string::npos) << line;
    tasks_done += static_cast<unsigned>(std::stoul(line.substr(did + 5)));
  }
  EXPECT_EQ(tasks_done, 100u) << output.str();
}

TEST_F(Docs, the_cpp_program_of_active_messages_works) {
  EXPECT_EQ(run("docs/tutorial.md", "cpp", 3, "## 8."), "the sum is 1.57286e+06\n");
}

TEST_F(Docs, the_program_of_tasks_works) {
  EXPECT_EQ(run("docs/tutorial.md", "c", 3, "## 9."), "6 PEs: the sum is 18003000\n");
}

TEST_F(Docs, a_packed_halo_comes_as_a_task) {
  const std::string output = run("docs/task-migration.md", "c", 3, "### With a message");
  EXPECT_NE(output.find("PE 0: the halo adds up to 1536\n"), std::string::npos) << output;
  EXPECT_NE(output.find("PE 1: the halo adds up to 512\n"), std::string::npos) << output;
  EXPECT_NE(output.find("PE 2: the halo adds up to 1024\n"), std::string::npos) << output;
}

TEST_F(Docs, an_array_is_read_where_it_is_and_both_sides_hear_of_it) {
  const std::string output = run("docs/task-migration.md", "c", 2, "### Without a copy");
  EXPECT_NE(output.find("PE 0: it was read (" + std::string(ph_status_text(PH_OK)) + ")\n"),
            std::string::npos)
      << output;
  EXPECT_NE(output.find("the last one is 1.04858e+06\n"), std::string::npos) << output;
}

TEST_F(Docs, the_program_of_rvma_works) {
  EXPECT_EQ(run("docs/rvma.md", "c", 4), "32 bytes, the first part is 1.5\n");
}

}  // namespace
}  // namespace photon::test
