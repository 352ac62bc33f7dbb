// Zero-copy buffers: programs of tests/converse/programs by each path, and those that are refused.
#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <vector>

#include "process/launched.hpp"

namespace photon::test {
namespace {

struct NcpyPath {
  std::string name;
  std::vector<std::string> options;  // of photonrun
  std::vector<std::string> pes;      // of the program
};

const std::vector<NcpyPath> kNcpyPaths = {
    {"one PE", {"-n", "1"}, {}},
    {"one process", {"-n", "1"}, {"+p", "4"}},
    {"mapped and CMA", {"-n", "2"}, {"+ppn", "2"}},
    {"served", {"-n", "2", "--env", "PHOTON_SHM_CMA=off"}, {"+ppn", "2"}},
    {"tcp", {"-n", "2", "--env", "PHOTON_TRANSPORT=tcp"}, {"+ppn", "2"}},
    {"three processes", {"-n", "3"}, {"+p", "1"}},
};

std::string ncpy_program(const std::string& name) {
  return std::string(PHOTON_CONVERSE_DIR) + "/conv_ncpy_" + name;
}

void expect_ok(const NcpyPath& path, const std::string& name) {
  std::vector<std::string> arguments = path.options;
  arguments.push_back(ncpy_program(name));
  arguments.insert(arguments.end(), path.pes.begin(), path.pes.end());
  Launched job(arguments);
  job.allow(std::chrono::seconds(60));  // four PEs that poll, on what cores there are
  EXPECT_EQ(job.wait(), 0) << path.name << ": " << job.err;
  EXPECT_EQ(job.out, "ok ncpy_" + name.substr(0, name.rfind('_')) + "\n") << path.name;
}

TEST(ConverseNcpy, figures_1_to_3_run_as_they_are_printed) {
  for (const NcpyPath& path : kNcpyPaths) expect_ok(path, "figures_cpp");
}

TEST(ConverseNcpy, each_form_has_two_dones_on_every_path) {
  for (const NcpyPath& path : kNcpyPaths) expect_ok(path, "ways_cpp");
}

TEST(ConverseNcpy, the_calls_of_the_lower_layer_are_of_c) {
  for (const NcpyPath& path : kNcpyPaths) expect_ok(path, "lrts_c");
}

TEST(ConverseNcpy, acks_come_behind_their_own_dones) {
  for (const NcpyPath& path : kNcpyPaths) expect_ok(path, "order_cpp");
}

TEST(ConverseNcpy, quiescence_comes_behind_the_dones_of_all_chains) {
  for (const NcpyPath& path : kNcpyPaths) expect_ok(path, "quiescence_cpp");
}

// Those who come when the buffer has ended are told so; PE 0, which began nothing, never fails.
TEST(ConverseNcpy, a_buffer_that_ends_by_itself_waits_for_what_is_issued_there) {
  for (int round = 0; round < 5; ++round) {
    Launched job({"-n", "4", ncpy_program("shared_cpp")});
    job.allow(std::chrono::seconds(60));
    const int status = job.wait();
    EXPECT_FALSE(says(job.err, "PE 0 has aborted")) << job.err;
    EXPECT_TRUE(status == 0 ? job.out == "ok ncpy_shared\n" : says(job.err, "has ended: one that"))
        << job.err;
  }
}

// More operations than there may be registrations: each gives its own back.
TEST(Converse, EnumeratorIsNoHandler) {
  for (NcpyPath path : kNcpyPaths) {
    path.options.insert(path.options.end(), {"--env", "PHOTON_MAX_REGIONS=256"});
    expect_ok(path, "modes_cpp");
  }
}

struct Refused {
  std::string name;
  std::string words;
};

const std::vector<Refused> kRefused = {
    {"foreign", "CmiNcpyBuffer::deregisterMem: the buffer is of PE 1, and PE 0 calls"},
    {"far_copy", "CmiNcpyBuffer::memcpyGet: the buffer is of PE 1, which is of another process"},
    {"forged", "CmiNcpyBuffer::get: "},
    {"short_get",
     "CmiNcpyBuffer::get: the destination has 100 bytes, and the source 4096: 0 bytes"},
    {"short_put", "CmiNcpyBuffer::put: the destination has 4096 bytes, and the source 4097"},
    {"short_rdma", "CmiNcpyBuffer::rdmaGet: the destination has 100 bytes, and the source 4096"},
    {"noreg", "CmiNcpyBuffer::get: a buffer that is CMK_BUFFER_NOREG"},
    {"other_noreg", "CmiNcpyBuffer::get: a buffer that is CMK_BUFFER_NOREG"},
    {"ack_size", "CmiNcpyBuffer::rdmaGet: an ack of -3 bytes"},
    {"twice", "another operation lands in the own buffer"},
    {"stale", "has ended: one that several operations use is CMK_BUFFER_NODEREG"},
    {"never_made", "CmiNcpyBuffer::get: the object has no buffer"},
    {"not_set", "CmiNcpyBuffer::rdmaGet: nobody would get its acks"},
    {"ended", "CmiNcpyBuffer::get: the buffer was deregistered"},
    {"no_handler", "CmiNcpyBuffer: there is no handler 77"},
    {"negative", "CmiNcpyBuffer: a buffer of -5 bytes"},
    {"mode", "CmiNcpyBuffer: there is no mode 9"},
    {"lrts_size", "LrtsSetRdmaBufferInfo: a buffer of -7 bytes"},
    {"lrts_null", "LrtsIssueRget: the info is null"},
    {"no_memory", "the memory is null"},
};

TEST(ConverseNcpy, what_cannot_be_done_ends_the_job_with_words) {
  for (const Refused& one : kRefused) {
    Launched job({"-n", "2", ncpy_program("refused_cpp"), one.name});
    EXPECT_NE(job.wait(), 0) << one.name;
    EXPECT_TRUE(says(job.err, one.words)) << one.name << ": " << job.err;
  }
}

TEST(ConverseNcpy, a_process_refuses_what_its_own_PEs_may_not_do) {
  for (const char* const name : {"short_get", "noreg", "stale", "foreign"}) {
    Launched job({"-n", "1", ncpy_program("refused_cpp"), name, "+p", "2"});
    EXPECT_NE(job.wait(), 0) << name;
    EXPECT_TRUE(says(job.err, "CmiNcpyBuffer")) << name << ": " << job.err;
  }
}

}  // namespace
}  // namespace photon::test
