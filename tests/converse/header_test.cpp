// converse.h by itself: which compilers take it, and what it says to the others.
#include <gtest/gtest.h>

#include <string>

#include "command.hpp"

namespace photon::test {
namespace {

const std::string kConverseFolder = std::string(PHOTON_SOURCE_DIR) + "/include/converse";

CommandResult compile_text(const std::string& compiler, const std::string& language,
                           const std::string& standard, const std::string& text) {
  return run_command("echo '" + text + "' | " + compiler + " -x " + language + " -std=" + standard +
                     " -fsyntax-only -Wall -Wextra -Werror -I" + kConverseFolder + " - 2>&1");
}

CommandResult compile_header(const std::string& compiler, const std::string& language,
                             const std::string& standard, const std::string& header) {
  return compile_text(compiler, language, standard, "#include <" + header + ">");
}

TEST(Converse, HeaderInCAndCxx) {
  for (const char* header : {"converse.h", "pup_c.h"}) {
    for (const char* standard : {"c11", "gnu11", "c17"}) {
      const CommandResult result = compile_header(PHOTON_C_COMPILER, "c", standard, header);
      EXPECT_EQ(result.exit_status, 0) << header << standard << result.output;
    }
    for (const char* standard : {"c++17", "gnu++17", "c++20"}) {
      const CommandResult result = compile_header(PHOTON_CXX_COMPILER, "c++", standard, header);
      EXPECT_EQ(result.exit_status, 0) << header << standard << result.output;
    }
  }
}

TEST(ConverseHeader, says_which_names_are_not_there) {
  const std::string compilers[] = {PHOTON_C_COMPILER + std::string(" -x c -std=c11"),
                                   PHOTON_CXX_COMPILER + std::string(" -x c++ -std=c++17")};
  for (const std::string& compiler : compilers)
    for (const std::string call : {"CmmNew()", "CldEnqueue(0, 0, 0)"}) {
      const CommandResult result =
          run_command("printf '#include <converse.h>\nvoid f(void);\nvoid f(void) { " + call +
                      "; }\n' | " + compiler + " -c -o /dev/null -I" + kConverseFolder + " - 2>&1");
      EXPECT_NE(result.exit_status, 0) << call;
      EXPECT_NE(result.output.find("absent from Photon's converse.h"), std::string::npos)
          << result.output;
    }
}

TEST(ConverseHeader, has_pup_functions_and_functions_without_a_time_by_itself) {
  const std::string include = "#include <converse.h>\n";
  const std::string pup = "void pup(pup_er p, void* user) { pup_int(p, (int*)user); }\n";
  const std::string calls =
      "static void run(void*) {}\n"
      "void call() {\n"
      "  CcdCallFnAfter(run, 0, 1); CcdCallFnAfterOnPE(run, 0, 1, 0);\n"
      "  CcdCallOnCondition(16, run, 0); CcdCallOnConditionOnPE(16, run, 0, 0);\n"
      "  CcdCallOnConditionKeep(16, run, 0); CcdCallOnConditionKeepOnPE(16, run, 0, 0);\n"
      "}\n";
  const CommandResult c = compile_text(PHOTON_C_COMPILER, "c", "c11", include + pup);
  EXPECT_EQ(c.exit_status, 0) << c.output;
  const CommandResult cxx =
      compile_text(PHOTON_CXX_COMPILER, "c++", "c++17", include + pup + calls);
  EXPECT_EQ(cxx.exit_status, 0) << cxx.output;
}

TEST(ConverseHeader, says_to_older_languages_what_it_needs) {
  for (const char* standard : {"c99", "gnu89"}) {
    const CommandResult result = compile_header(PHOTON_C_COMPILER, "c", standard, "converse.h");
    EXPECT_NE(result.exit_status, 0) << standard;
    EXPECT_NE(result.output.find("converse.h needs C11 or later"), std::string::npos)
        << result.output;
  }
  const CommandResult result = compile_header(PHOTON_CXX_COMPILER, "c++", "c++14", "converse.h");
  EXPECT_NE(result.exit_status, 0);
  EXPECT_NE(result.output.find("converse.h needs C++17 or later"), std::string::npos)
      << result.output;
}

// As of a compiler that is no GNU and says that it has no threads.
TEST(ConverseHeader, says_that_it_needs_thread_local_storage) {
  const CommandResult result =
      run_command("echo '#include <converse.h>' | " + std::string(PHOTON_C_COMPILER) +
                  " -x c -std=c11 -fsyntax-only -U__GNUC__ -D__STDC_NO_THREADS__=1 -I" +
                  kConverseFolder + " - 2>&1");
  EXPECT_NE(result.exit_status, 0);
  EXPECT_NE(result.output.find("thread-local storage"), std::string::npos) << result.output;
}

}  // namespace
}  // namespace photon::test
