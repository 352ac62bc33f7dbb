// Active messages of the program, preloaded: programs am, am_layouts, am_errors and am_kills.
#include <gtest/gtest.h>

#include <string>

#include "mpi_job.hpp"

namespace photon::test {
namespace {

class MpiAm : public MpiTest {};

TEST_P(MpiAm, EachCallOfThePaperByName) {
  expect_ok("am", 3, "calls");
  expect_ok("am", 1, "calls");
}
TEST_P(MpiAm, TargetThatComputes) { expect_ok("am", 2, "computing"); }
TEST_P(MpiAm, PartsComeWhileEarlierOnesAreHandled) { expect_ok("am", 2, "parts"); }
TEST_P(MpiAm, HandlersThatSendAreQuiescedToo) {
  expect_ok("am", 4, "hops");
  expect_ok("am", 1, "hops");
}
TEST_P(MpiAm, MoreThanATargetHasRoomFor) { expect_ok("am", 3, "flood"); }
TEST_P(MpiAm, Communicators) { expect_ok("am", 4, "communicators"); }

TEST_P(MpiAm, LandsByTheLayoutOfADatatype) { expect_ok("am_layouts", 2, "landings"); }
TEST_P(MpiAm, LayoutFreedBeforeItsMessageLands) { expect_ok("am_layouts", 2, "freed"); }
TEST_P(MpiAm, WrongArguments) { expect_ok("am_errors", 3, "arguments"); }
TEST_P(MpiAm, SenderHearsWhatGoesWrongAtItsTarget) { expect_ok("am_errors", 3, "at_target"); }
TEST_P(MpiAm, CallsThatHandlersMayNotMake) {
  const MpiJob job{GetParam(), "am_errors", 2, "in_handler"};
  if (const std::string missing = missing_for(job); !missing.empty()) GTEST_SKIP() << missing;
  const CommandResult end = run_mpi(job);
  EXPECT_EQ(end.exit_status, 0) << end.output;
  EXPECT_EQ(count_of(end.output, "ok in_handler\n"), 1U) << end.output;
  EXPECT_EQ(count_of(end.output, "photon: a call inside an operation or a handler"), 5U)
      << end.output;
}

// Its target's completion handler hears of the end, and quiescence says so to both survivors.
void expect_survival(MpiJob job) {
  job.flags = is_hydra(job.flavour) ? "-disable-auto-cleanup" : "--enable-recovery";
  if (const std::string missing = missing_for(job); !missing.empty()) GTEST_SKIP() << missing;
  const CommandResult end = run_mpi(job);
  for (const std::string& line :
       {std::string("survivor 0"), std::string("survivor 2"), "ok " + job.arguments})
    EXPECT_EQ(count_of(end.output, line + "\n"), 1U) << mpi_command(job) << "\n" << end.output;
}
TEST_P(MpiAm, KilledBetweenHeaderAndPayload) {
  expect_survival({GetParam(), "am_kills", 3, "killed_between"});
}
TEST_P(MpiAm, KilledWhileItsPayloadLands) {
  expect_survival({GetParam(), "am_kills", 3, "killed_during"});
}

INSTANTIATE_TEST_SUITE_P(Flavours, MpiAm, mpi_flavours(), flavour_name);

// The same between hosts, by tcp.
class MpiAmHosts : public MpiTest {
 protected:
  static MpiJob at_hosts(const std::string& program, int ranks, const std::string& arguments) {
    MpiJob job{GetParam(), program, ranks, arguments};
    job.sides = "ab";
    return job;
  }
};

TEST_P(MpiAmHosts, Messages) {
  expect_ok(at_hosts("am", 3, "calls computing parts hops flood communicators"));
}
TEST_P(MpiAmHosts, Landings) { expect_ok(at_hosts("am_layouts", 2, "landings freed")); }
TEST_P(MpiAmHosts, Errors) {
  expect_ok(at_hosts("am_errors", 2, "arguments at_target in_handler"));
}
TEST_P(MpiAmHosts, KilledSender) {
  for (const char* name : {"killed_between", "killed_during"}) {
    MpiJob job = at_hosts("am_kills", 3, name);
    job.pipe = testing::TempDir() + "photon_mpi_am_" + std::to_string(::getpid());
    expect_survival(job);
  }
}

INSTANTIATE_TEST_SUITE_P(Flavours, MpiAmHosts, mpi_implementations(), flavour_name);

}  // namespace
}  // namespace photon::test
