// photonrun's own behaviour: what ranks are given, and what is told and returned when they end.
#include <sched.h>

#include <algorithm>
#include <set>

#include "launched.hpp"

namespace photon::test {
namespace {

using testing::Test;

std::vector<std::string> shell(std::vector<std::string> options, const std::string& script) {
  options.insert(options.end(), {"sh", "-c", script});
  return options;
}

std::vector<std::string> sorted_lines(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  std::ranges::sort(lines);
  return lines;
}

// Of ranks that are no Photon programs it says so at the end.
bool is_unjoined_line(const std::string& line) {
  return line.starts_with("photonrun: no rank joined the job: each ran on its own. ");
}

TEST(Photonrun, gives_each_rank_its_number_and_the_job_size) {
  Launched job(shell({"-n", "3"}, "echo $PHOTON_RANK of $PHOTON_SIZE"));
  EXPECT_EQ(job.wait(), 0);
  EXPECT_EQ(sorted_lines(job.out), (std::vector<std::string>{"0 of 3", "1 of 3", "2 of 3"}));
  EXPECT_TRUE(is_unjoined_line(job.err)) << job.err;
  EXPECT_EQ(sorted_lines(job.err).size(), 1u) << job.err;
  job.expect_nothing_left();
}

TEST(Photonrun, starts_one_rank_per_usable_core_by_default) {
  cpu_set_t cores;
  ASSERT_EQ(::sched_getaffinity(0, sizeof cores, &cores), 0);
  Launched job({"echo", "rank"});
  EXPECT_EQ(job.wait(), 0);
  EXPECT_EQ(sorted_lines(job.out).size(), static_cast<std::size_t>(CPU_COUNT(&cores)));
}

TEST(Photonrun, starts_32_ranks) {
  Launched job({"-n", "32", "--label", "echo", "here"});
  EXPECT_EQ(job.wait(), 0);
  EXPECT_EQ(sorted_lines(job.out).size(), 32u);
  job.expect_nothing_left();
}

TEST(Photonrun, passes_its_input_to_rank_0_only) {
  Launched job(shell({"-n", "3", "--label"}, "cat; echo end"));
  job.write_input("to rank 0\n");
  job.close_input();
  EXPECT_EQ(job.wait(), 0);
  EXPECT_EQ(sorted_lines(job.out),
            (std::vector<std::string>{"[0] end", "[0] to rank 0", "[1] end", "[2] end"}));
}

TEST(Photonrun, labels_whole_lines_of_both_outputs_and_loses_none) {
  const std::string script =
      "i=0; while [ $i -lt 2000 ]; do echo line $i; echo error $i >&2; i=$((i+1)); done;"
      "printf unfinished";
  Launched job(shell({"-n", "3", "--label"}, script));
  EXPECT_EQ(job.wait(), 0);
  const auto lines = sorted_lines(job.out);
  EXPECT_EQ(lines.size(), 3 * 2001u);
  EXPECT_EQ(std::ranges::count(lines, "[2] line 1999"), 1);
  EXPECT_EQ(std::ranges::count(lines, "[1] unfinished"), 1);
  auto errors = sorted_lines(job.err);
  EXPECT_EQ(std::erase_if(errors, is_unjoined_line), 1u);
  EXPECT_EQ(errors.size(), 3 * 2000u);
  EXPECT_TRUE(std::ranges::all_of(errors, [](const std::string& line) {
    return line.starts_with("[") && line.substr(3, 7) == " error ";
  }));
}

TEST(Photonrun, tells_libfabric_of_a_large_job_before_its_ranks_start) {
  const std::string script = "[ $PHOTON_RANK != 0 ] || echo size $FI_UNIVERSE_SIZE.";
  Launched small(shell({"-n", "2"}, script));
  EXPECT_EQ(small.wait(), 0);
  EXPECT_EQ(small.out, "size .\n");
  Launched large(shell({"-n", "257"}, script));
  EXPECT_EQ(large.wait(), 0);
  EXPECT_EQ(large.out, "size 257.\n");
  Launched told(shell({"-n", "257", "--env", "FI_UNIVERSE_SIZE=512"}, script));
  EXPECT_EQ(told.wait(), 0);
  EXPECT_EQ(told.out, "size 512.\n");
}

TEST(Photonrun, sets_variables_in_the_ranks) {
  Launched job(shell({"-n", "2", "--env", "ONE=a=b", "--env", "TWO="}, "echo $ONE,$TWO."));
  EXPECT_EQ(job.wait(), 0);
  EXPECT_EQ(job.out, "a=b,.\na=b,.\n");
}

TEST(Photonrun, binds_ranks_to_the_usable_cores_in_turn) {
  cpu_set_t set;
  ASSERT_EQ(::sched_getaffinity(0, sizeof set, &set), 0);
  std::vector<int> cores;
  for (int core = 0; core < CPU_SETSIZE; ++core) {
    if (CPU_ISSET(core, &set)) cores.push_back(core);
  }
  Launched job(shell({"-n", "3", "--bind", "--label"},
                     "grep Cpus_allowed_list /proc/self/status | cut -f2"));
  EXPECT_EQ(job.wait(), 0);
  std::vector<std::string> expected;
  for (std::size_t rank = 0; rank < 3; ++rank) {
    expected.push_back("[" + std::to_string(rank) + "] " +
                       std::to_string(cores[rank % cores.size()]));
  }
  EXPECT_EQ(sorted_lines(job.out), expected);
}

TEST(Photonrun, gives_ranks_no_descriptor_but_the_channel) {
  Launched job({"-n", "3", "--label", "ls", "/proc/self/fd"});
  ASSERT_EQ(job.wait(), 0);
  // What this test's own process leaks to photonrun is not photonrun's fault.
  std::size_t inherited = 0;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
    const int fd = std::atoi(entry.path().filename().c_str());
    if (fd > 2 && ::fcntl(fd, F_GETFD) == 0) ++inherited;
  }
  const std::size_t expected = 3 + 1 + 1 + inherited;  // standard, channel, the folder ls reads
  const auto lines = sorted_lines(job.out);
  for (const char* const label : {"[0] ", "[1] ", "[2] "}) {
    EXPECT_EQ(std::ranges::count_if(
                  lines, [label](const std::string& line) { return line.starts_with(label); }),
              static_cast<std::ptrdiff_t>(expected))
        << job.out;
  }
}

TEST(Photonrun, names_the_first_rank_that_fails_and_returns_its_status) {
  Launched job(shell({"-n", "4"}, "[ $PHOTON_RANK = 2 ] && exit 7; exec sleep 1000"));
  EXPECT_EQ(job.wait(), 7);
  EXPECT_TRUE(says(job.err, "rank 2 (pid ")) << job.err;
  EXPECT_TRUE(says(job.err, ") exited with status 7\n")) << job.err;
  EXPECT_EQ(sorted_lines(job.err).size(), 1u) << job.err;
  job.expect_nothing_left();
}

TEST(Photonrun, names_the_signal_that_killed_a_rank) {
  Launched job(shell({"-n", "3"}, "[ $PHOTON_RANK = 1 ] && kill -SEGV $$; exec sleep 1000"));
  EXPECT_EQ(job.wait(), 128 + SIGSEGV);
  EXPECT_TRUE(says(job.err, "rank 1 (pid ")) << job.err;
  EXPECT_TRUE(says(job.err, "was killed by signal 11 (Segmentation fault)")) << job.err;
  job.expect_nothing_left();
}

TEST(Photonrun, kills_ranks_that_do_not_obey) {
  Launched job(shell({"-n", "2"},
                     "if [ $PHOTON_RANK = 0 ]; then trap '' TERM USR1; else trap 'exit 3' USR1; fi;"
                     "echo ready; while :; do sleep 0.05; done"));
  job.await_lines(2);
  const auto begin = std::chrono::steady_clock::now();
  job.signal(SIGUSR1);
  EXPECT_EQ(job.wait(), 3);
  EXPECT_GE(std::chrono::steady_clock::now() - begin, std::chrono::seconds(2)) << "no grace";
  job.expect_nothing_left();
}

TEST(Photonrun, says_why_a_program_cannot_be_started) {
  Launched missing({"-n", "3", "no-such-program"});
  EXPECT_EQ(missing.wait(), 127);
  // One rank is named, whichever was noticed first: all three fail at the same time.
  EXPECT_EQ(missing.err.rfind("photonrun: rank ", 0), 0u) << missing.err;
  const std::string why = " could not start no-such-program: No such file or directory\n";
  EXPECT_EQ(missing.err.find(why), std::string("photonrun: rank 0").size()) << missing.err;
  EXPECT_EQ(missing.err.find('\n'), missing.err.size() - 1) << "more than one rank is named";
  Launched folder({"-n", "3", "/proc"});
  EXPECT_EQ(folder.wait(), 126);
  EXPECT_TRUE(says(folder.err, "could not start /proc: Permission denied")) << folder.err;
  folder.expect_nothing_left();
}

TEST(Photonrun, says_where_a_program_is_that_was_named_without_its_folder) {
  Launched job({"-n", "2", "--chdir", PHOTON_BIN_DIR "/../tests", "photon_process_tests"});
  EXPECT_EQ(job.wait(), 127);
  EXPECT_TRUE(says(job.err,
                   "No such file or directory; it is not on PATH, the one in this "
                   "folder is ./photon_process_tests\n"))
      << job.err;
}

TEST(Photonrun, ends_the_job_when_its_time_is_up_and_says_who_still_ran) {
  Launched job(
      shell({"-n", "4", "--timeout", "0.5"}, "[ $PHOTON_RANK = 1 ] && exit 0; exec sleep 1000"));
  EXPECT_EQ(job.wait(), 124);
  EXPECT_EQ(job.err, "photonrun: after 0.5 s ranks 0, 2-3 still ran; ended\n");
  job.expect_nothing_left();
}

TEST(Photonrun, refuses_what_it_does_not_understand) {
  for (const std::vector<std::string>& arguments : {std::vector<std::string>{},
                                                    {"--no-such-option", "true"},
                                                    {"-n", "0", "true"},
                                                    {"--env", "novalue", "true"},
                                                    {"--timeout", "nan", "true"},
                                                    {"--timeout", "0", "true"},
                                                    {"--wait", "nan", "--root", "h:1", "true"},
                                                    {"--seat", "1", "true"},
                                                    {"--keep-going"},
                                                    {"--keep-going=perhaps", "true"},
                                                    {"-n", "x", "true"}}) {
    Launched job(arguments);
    EXPECT_EQ(job.wait(), 125);
    EXPECT_TRUE(job.err.starts_with("photonrun: ")) << job.err;
    EXPECT_FALSE(job.err.starts_with("photonrun:  ")) << job.err << "names no option";
  }
}

TEST(Photonrun, leaves_the_programs_options_alone) {
  Launched job({"-n", "1", "--", "echo", "-n", "--label", "--", "x"});
  EXPECT_EQ(job.wait(), 0);
  EXPECT_EQ(job.out, "--label -- x");
}

TEST(Photonrun, prints_help_with_examples_and_its_version) {
  Launched help({"--help"});
  EXPECT_EQ(help.wait(), 0);
  EXPECT_TRUE(says(help.out, "Examples:"));
  Launched version({"--version"});
  EXPECT_EQ(version.wait(), 0);
  EXPECT_TRUE(version.out.starts_with("photonrun "));
}

TEST(Photonrun, inner_ranks_belong_to_the_inner_job) {
  const std::string inner =
      std::string(PHOTON_BIN_DIR) + "/photonrun -n 2 sh -c 'echo $PHOTON_RANK of $PHOTON_SIZE'";
  Launched job(shell({"-n", "3"}, inner));
  EXPECT_EQ(job.wait(), 0);
  EXPECT_EQ(sorted_lines(job.out),
            (std::vector<std::string>{"0 of 2", "0 of 2", "0 of 2", "1 of 2", "1 of 2", "1 of 2"}));
  job.expect_nothing_left();
}

}  // namespace
}  // namespace photon::test
