// Jobs of the program engine_stress under photonrun.
// Owner: one test.
#pragma once

#include <string>
#include <vector>

#include "launched.hpp"

namespace photon::test {

struct StressJob {
  const char* name;
  std::string ranks_count;
  std::string max_id_bytes;
  std::vector<std::string> options;  // of photonrun
};

inline void PrintTo(const StressJob& job, std::ostream* out) { *out << job.name; }

// `wrapper`: before the program, e.g. the command that gives it namespaces of its own.
inline std::vector<std::string> arguments_of(const StressJob& job, const std::string& seconds,
                                             const std::string& seed,
                                             const std::vector<std::string>& wrapper = {}) {
  std::vector<std::string> arguments = {"-n", job.ranks_count, "--label"};
  arguments.insert(arguments.end(), job.options.begin(), job.options.end());
  arguments.insert(arguments.end(), wrapper.begin(), wrapper.end());
  arguments.insert(arguments.end(), {std::string(PHOTON_BIN_DIR) + "/engine_stress", seconds, seed,
                                     job.max_id_bytes});
  return arguments;
}

inline void expect_stress_passes(const StressJob& job,
                                 const std::vector<std::string>& wrapper = {}) {
  const std::string seed = std::to_string(::getpid());
  Launched run(arguments_of(job, "1", seed, wrapper));
  EXPECT_EQ(run.wait(), 0) << "seed " << seed << ": " << run.err;
  EXPECT_EQ(run.err, "");
  std::size_t verified = 0;
  for (std::size_t at = 0; (at = run.out.find("verified ", at)) != std::string::npos; ++at) {
    ++verified;
    EXPECT_NE(run.out.find("verified 0 ", at), at) << "a rank got no message";
  }
  EXPECT_EQ(std::to_string(verified), job.ranks_count) << run.out;
  run.expect_nothing_left();
}

// The process of a rank of a labelled job that has begun; 0, with a failure: its line is not there.
inline pid_t pid_of(const Launched& run, int rank) {
  const std::string words = "[" + std::to_string(rank) + "] running ";
  const std::size_t line = run.out.find(words);
  EXPECT_NE(line, std::string::npos) << run.out;
  return line == std::string::npos ? 0 : std::stoi(run.out.substr(line + words.size()));
}

inline void expect_a_kill_ends(const StressJob& job) {
  Launched run(arguments_of(job, "25", "7"));
  run.await_lines(std::stoul(job.ranks_count));  // all are in the middle of it
  const pid_t victim = pid_of(run, 1);
  ASSERT_GT(victim, 0);
  ::kill(victim, SIGKILL);
  EXPECT_GT(run.wait(), 0) << run.err;  // long before its 25 seconds are over
  EXPECT_NE(run.err.find("rank 1"), std::string::npos) << run.err;
  run.expect_nothing_left();
}

}  // namespace photon::test
