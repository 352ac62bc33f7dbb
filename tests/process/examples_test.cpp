// The examples, run as the README says.
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string>

#include "command.hpp"
#include "launched.hpp"

namespace photon::test {
namespace {

const std::string kExamples = PHOTON_EXAMPLES_DIR "/";

std::string example(int ranks_count, const std::string& program) {
  return kRun + " -n " + std::to_string(ranks_count) + " " + kExamples + program;
}

// Of this process alone: the tests of a suite are shared by several.
std::filesystem::path own_folder(const char* name) {
  return std::filesystem::path(testing::TempDir()) / (name + std::to_string(::getpid()));
}

class Heat2d : public testing::Test {
 protected:
  Heat2d() : folder_(own_folder("photon_heat2d.")) {
    std::filesystem::remove_all(folder_);
    std::filesystem::create_directories(folder_);
  }
  ~Heat2d() override { std::filesystem::remove_all(folder_); }

  [[nodiscard]] std::string file(const std::string& name) const { return folder_ / name; }

 private:
  std::filesystem::path folder_;
};

TEST_F(Heat2d, agrees_with_the_serial_solution_on_any_number_of_ranks) {
  for (const int ranks_count : {1, 2, 3, 5, 8}) {
    const CommandResult result = run_command(
        example(ranks_count, "heat2d --size 67 --steps 40 --output " + file("out.png")));
    EXPECT_EQ(result.exit_status, 0) << result.output;
    EXPECT_NE(result.output.find("right: largest difference to the serial solution"),
              std::string::npos)
        << result.output;
    EXPECT_TRUE(std::filesystem::exists(file("out.png")));
    std::filesystem::remove(file("out.png"));
  }
}

TEST_F(Heat2d, works_with_more_ranks_than_rows) {
  for (const char* size : {"1", "2", "3"}) {
    const CommandResult result =
        run_command(example(4, std::string("heat2d --output '' --steps 7 --size ") + size));
    EXPECT_EQ(result.exit_status, 0) << result.output;
  }
}

TEST_F(Heat2d, works_without_a_launcher_and_without_kernel_copies) {
  EXPECT_EQ(run_command(kExamples + "heat2d --output '' --size 20 --steps 3").exit_status, 0);
  EXPECT_EQ(
      run_command("PHOTON_SHM_CMA=off " + example(3, "heat2d --output '' --size 700 --steps 5"))
          .exit_status,
      0);
}

TEST_F(Heat2d, takes_a_picture_as_its_initial_field) {
  ASSERT_EQ(
      run_command(example(2, "heat2d --size 40 --steps 0 --output " + file("a.png"))).exit_status,
      0);
  const CommandResult result = run_command(
      example(3, "heat2d --steps 9 --input " + file("a.png") + " --output " + file("b.png")));
  EXPECT_EQ(result.exit_status, 0) << result.output;
  EXPECT_NE(result.output.find("40 x 40 cells"), std::string::npos) << result.output;
}

TEST_F(Heat2d, says_once_what_is_wrong_with_a_file) {
  std::ofstream(file("text.png")) << "not a picture";
  for (const std::string& arguments :
       {"--input " + file("text.png"), "--input " + file("missing.png"), "--input " + file("."),
        "--output " + file("no/such/folder.png")}) {
    const CommandResult result = run_command(example(3, "heat2d " + arguments + " 2>&1"));
    EXPECT_EQ(result.exit_status, 1) << arguments;
    const std::size_t first = result.output.find("heat2d: ");
    ASSERT_NE(first, std::string::npos) << result.output;
    EXPECT_EQ(result.output.find("heat2d: cannot", first + 1), std::string::npos) << result.output;
  }
}

TEST(AllreduceOverlap, finds_what_one_rank_alone_finds) {
  for (const int ranks_count : {1, 2, 3, 8})
    for (const char* transport : {"shm", "tcp"}) {
      const CommandResult result = run_command("PHOTON_TRANSPORT=" + std::string(transport) + " " +
                                               example(ranks_count, "allreduce_overlap 4001 60"));
      EXPECT_EQ(result.exit_status, 0) << result.output;
      EXPECT_NE(result.output.find(", right"), std::string::npos) << result.output;
    }
}

TEST(CollPwc, finds_what_is_right_over_plain_puts_and_by_the_librarys_own_ways) {
  for (const int ranks_count : {1, 2, 3, 5})
    for (const char* settings :
         {"PHOTON_TRANSPORT=shm ", "PHOTON_TRANSPORT=tcp ", "PHOTON_COLL=default "}) {
      const CommandResult result = run_command(settings + example(ranks_count, "coll_pwc 6"));
      EXPECT_EQ(result.exit_status, 0) << result.output;
      EXPECT_NE(result.output.find(", right"), std::string::npos) << result.output;
    }
}

TEST(CollPwc, names_the_providers_that_there_are_where_another_one_is_wanted) {
  const CommandResult result = run_command("PHOTON_COLL=mine " + example(1, "coll_pwc 1 2>&1"));
  EXPECT_NE(result.exit_status, 0);
  EXPECT_NE(result.output.find("\"mine\", which is no provider here; known: default, pwc"),
            std::string::npos)
      << result.output;
}

// Answered messages of all ranks to one, and of it to itself.
TEST(Counter, adds_all_and_answers_each_in_order) {
  for (const int ranks_count : {1, 2, 4})
    for (const char* transport : {"shm", "tcp"}) {
      const CommandResult result = run_command("PHOTON_TRANSPORT=" + std::string(transport) + " " +
                                               example(ranks_count, "counter 3000 2>&1"));
      EXPECT_EQ(result.exit_status, 0) << result.output;
      EXPECT_TRUE(says(result.output, "additions each: the sum is ")) << result.output;
      EXPECT_TRUE(says(result.output, ", right")) << result.output;
    }
}

// What comes behind its time is refused, and touches nothing.
TEST(LateWriter, is_kept_out_of_a_buffer_that_was_taken_back) {
  for (const int ranks_count : {3, 5})
    for (const char* transport : {"shm", "tcp"}) {
      const CommandResult result = run_command("PHOTON_TRANSPORT=" + std::string(transport) + " " +
                                               example(ranks_count, "late_writer 2>&1"));
      EXPECT_EQ(result.exit_status, 0) << result.output;
      EXPECT_TRUE(says(result.output, "was refused, and no byte changed")) << result.output;
    }
  EXPECT_NE(run_command(example(2, "late_writer 2>&1")).exit_status, 0);
}

// What is said of each tree, but for how fast it was found.
std::string trees_in(const std::string& output) {
  std::string trees;
  std::istringstream lines(output);
  for (std::string line; std::getline(lines, line);)
    if (says(line, "bfs: from ")) trees += line.substr(0, line.rfind(", ")) + "\n";
  return trees;
}

// The graph does not depend on the ranks, nor do the levels on the order of messages.
TEST(Bfs, finds_right_trees_and_the_same_levels_on_any_number_of_ranks) {
  std::string alone;
  for (const int ranks_count : {1, 2, 3, 5})
    for (const char* options : {"", " --at-once"}) {
      const CommandResult result =
          run_command(example(ranks_count, "bfs --scale 10 --roots 3" + std::string(options)));
      EXPECT_EQ(result.exit_status, 0) << result.output;
      EXPECT_TRUE(says(result.output, "bfs: 3 trees, right")) << result.output;
      const std::string trees = trees_in(result.output);
      if (alone.empty()) alone = trees;
      EXPECT_EQ(trees, alone) << ranks_count << options;
    }
  EXPECT_FALSE(alone.empty());
}

TEST(Bfs, finds_right_trees_over_tcp) {
  const CommandResult result =
      run_command("PHOTON_TRANSPORT=tcp " + example(3, "bfs --scale 9 --roots 2"));
  EXPECT_EQ(result.exit_status, 0) << result.output;
  EXPECT_TRUE(says(result.output, "bfs: 2 trees, right")) << result.output;
}

TEST(Hello, greets_from_every_rank) {
  const CommandResult result = run_command(example(4, "hello"));
  EXPECT_EQ(result.exit_status, 0);
  for (const char* line : {"rank 0: \"hello from rank 3\"", "rank 3: \"hello from rank 2\""})
    EXPECT_NE(result.output.find(line), std::string::npos) << result.output;
}

TEST(Ring, loses_no_hop) {
  for (const int ranks_count : {1, 2, 5}) {
    const CommandResult result = run_command(example(ranks_count, "ring"));
    EXPECT_EQ(result.exit_status, 0) << result.output;
    EXPECT_NE(result.output.find("a hop"), std::string::npos) << result.output;
  }
}

TEST(Addresses, are_found_in_a_folder_in_any_order) {
  const auto folder = own_folder("photon_addresses.");
  std::filesystem::remove_all(folder);
  std::filesystem::create_directories(folder);
  const auto rank = [&](const std::string& number) {
    return "PHOTON_TCP_INTERFACE=lo " + kExamples + "addresses " + number + " 3 " + folder.string();
  };
  const CommandResult result =
      run_command(rank("2") + " & " + rank("1") + " & " + rank("0") + "; wait");
  EXPECT_EQ(result.exit_status, 0) << result.output;
  for (const char* line : {"greeting 101 of rank 1", "greeting 102 of rank 2"})
    EXPECT_NE(result.output.find(line), std::string::npos) << result.output;
  std::filesystem::remove_all(folder);
}

// Blocks that were taken back at any moment belong to nobody else's request.
TEST(KvBlocks, every_byte_of_every_block_is_what_was_asked_for) {
  for (const char* transport : {"shm", "tcp"})
    for (const char* arguments :
         {"", "--stop", "--block-bytes 131072", "--block-bytes 131072 --stop"}) {
      const CommandResult result =
          run_command(std::string("PHOTON_TRANSPORT=") + transport + " " +
                      example(4, std::string("kv_blocks --requests 40 ") + arguments + " 2>&1"));
      EXPECT_EQ(result.exit_status, 0) << transport << arguments << result.output;
      EXPECT_TRUE(says(result.output, " 0 blocks corrupted")) << result.output;
    }
}

// The same program without mailboxes shows what they are for.
TEST(KvBlocks, plain_puts_land_in_blocks_of_others) {
  const CommandResult result = run_command(example(4, "kv_blocks --unfenced 2>&1"));
  EXPECT_EQ(result.exit_status, 1) << result.output;
  EXPECT_FALSE(says(result.output, " 0 blocks corrupted")) << result.output;
}

std::string contents_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

class Rewind : public testing::TestWithParam<const char*> {
 protected:
  Rewind() : file_(own_folder("photon_rewind.")) { std::filesystem::remove(file_); }
  ~Rewind() override { std::filesystem::remove(file_); }

  // Four parts and a spare.
  CommandResult run(const std::string& arguments) const {
    return run_command("PHOTON_LOG=error PHOTON_TRANSPORT=" + std::string(GetParam()) + " " + kRun +
                       " --keep-going -n 5 " + kExamples + "rewind --steps 40 --output " +
                       file_.string() + arguments + " 2>&1");
  }
  // The last state of all parts, read once.
  std::string state() const {
    std::string state = contents_of(file_);
    std::filesystem::remove(file_);
    return state;
  }

 private:
  const std::filesystem::path file_;
};

// States of 128 bytes and of 160,000: carried to the spare, and read by it.
TEST_P(Rewind, a_lost_rank_changes_no_bit_of_the_result) {
  constexpr int kKilled = 128 + 9;
  for (const std::string cells : {" --cells 16", " --cells 20000"}) {
    ASSERT_EQ(run(cells).exit_status, 0);
    const std::string undisturbed = state();
    ASSERT_FALSE(undisturbed.empty());
    for (const char* kill : {" --kill 0 --at 1 --behind 0", " --kill 1 --at 2 --behind 1",
                             " --kill 2 --at 17 --behind 2", " --kill 3 --at 18 --behind 3",
                             " --kill 0 --at 39 --behind 1", " --kill 2 --at 40 --behind 0"}) {
      const CommandResult result = run(cells + kill);
      EXPECT_EQ(result.exit_status, kKilled) << kill << result.output;
      EXPECT_TRUE(says(result.output, "was lost; all go on from step ")) << kill << result.output;
      EXPECT_EQ(state(), undisturbed) << cells << kill;
    }
  }
}

TEST_P(Rewind, a_second_loss_ends_the_job_in_words) {
  const std::string rewind = kExamples + "rewind --steps 100000 ";
  const CommandResult result = run_command(
      "PHOTON_LOG=error PHOTON_TRANSPORT=" + std::string(GetParam()) + " " + kRun +
      " --keep-going -n 5 sh -c 'case $PHOTON_RANK in 1) exec " + rewind + "--kill 1 --at 10;; " +
      "2) exec " + rewind + "--kill 2 --at 30;; *) exec " + rewind + ";; esac' 2>&1");
  EXPECT_TRUE(says(result.output, "was lost, too, and there is no other spare")) << result.output;
  EXPECT_TRUE(says(result.output, "two ranks were lost")) << result.output;
  EXPECT_FALSE(says(result.output, "check sum")) << result.output;
}

INSTANTIATE_TEST_SUITE_P(Over, Rewind, testing::Values("shm", "tcp"),
                         [](const auto& test) { return std::string(test.param); });

TEST(TaskRing, tokens_of_all_sizes_go_round_through_two_pes_of_two_processes) {
  const CommandResult result = run_command(example(2, "task_ring --pes 2 --laps 50"));
  ASSERT_EQ(result.exit_status, 0) << result.output;
  // 7 tokens for 50 laps; one hop more each until they are home at PE 0, and a message that stops.
  for (const char* line :
       {"PE 0 of 4: 358 tasks, 0 with wrong bytes", "PE 1 of 4: 358 tasks, 0 with wrong bytes",
        "PE 2 of 4: 351 tasks, 0 with wrong bytes", "PE 3 of 4: 351 tasks, 0 with wrong bytes"})
    EXPECT_NE(result.output.find(line), std::string::npos) << result.output;
}

TEST(FibonacciTasks, threads_of_all_pes_find_the_number_that_a_loop_finds) {
  const CommandResult result =
      run_command(example(2, "fibonacci_tasks --pes 2 --number 20 --serial 8"));
  ASSERT_EQ(result.exit_status, 0) << result.output;
  EXPECT_NE(result.output.find("fib(20) = 6765, which is right"), std::string::npos)
      << result.output;
  for (const char* line : {"PE 0 of 4: ", "PE 1 of 4: ", "PE 2 of 4: ", "PE 3 of 4: "})
    EXPECT_NE(result.output.find(line), std::string::npos) << result.output;
}

// Packed, offered, and as it is learnt; blocks of which some PEs have none are an example, too.
TEST(JacobiTasks, blocks_find_the_cells_that_a_serial_run_finds) {
  for (const char* options : {"", " --threshold 0", " --threshold 1000000",
                              " --blocks-down 3 --rows 99 --blocks-across 1",
                              " --blocks-down 1 --blocks-across 1 --steps 5"}) {
    const CommandResult result =
        run_command(example(2, std::string("jacobi_tasks --pes 2") + options));
    ASSERT_EQ(result.exit_status, 0) << options << result.output;
    for (const char* line : {"PE 0 of 4: ", "PE 1 of 4: ", "PE 2 of 4: ", "PE 3 of 4: "})
      EXPECT_NE(result.output.find(line), std::string::npos) << options << result.output;
    std::size_t right = 0;
    for (std::size_t at = 0; (at = result.output.find(" 0 cells differ", at)) != std::string::npos;
         ++at)
      ++right;
    EXPECT_EQ(right, 4u) << options << result.output;
  }
}

}  // namespace
}  // namespace photon::test
