// RMA endpoints of libfabric itself, by its provider tcp;ofi_rxm: what the rules for memory that a
// peer's NIC touches rest on. Each test twice: our own memory as it is, and registered as for a
// provider that wants that (FI_MR_LOCAL), which none here does.
#include <dlfcn.h>
#include <gtest/gtest.h>
#include <photon/memory.h>

#include <algorithm>
#include <functional>
#include <map>
#include <vector>

#include "transport/ofi/fabric.hpp"
#include "watchdog.hpp"

namespace photon::transport::ofi {
namespace {

constexpr std::uint64_t kRmaKey = 0x5eed'5eed'1234'5678;
constexpr std::size_t kFragments = 4;

// One of two, with its RMA endpoint; what it has been told of operations.
struct Side {
  std::unique_ptr<Fabric> fabric;
  std::unique_ptr<RmaEndpoint> rma_endpoint;
  std::map<const Operation*, bool> over;  // and whether it went well
  std::vector<std::uint64_t> told;        // by writes of the other

  void look() {
    Completion completions[8];
    std::size_t count = 0;
    const auto got = fabric->read(completions, count);
    ASSERT_NE(got, Fabric::Got::broken) << fabric->words();
    if (got == Fabric::Got::error && fabric->failed() != nullptr) over[fabric->failed()] = false;
    for (const Completion& one : std::span(completions).first(count)) {
      if (one.operation != nullptr)
        over[one.operation] = true;
      else
        told.push_back(one.data.value());
    }
  }
};

class FabricRmaEndpoint : public testing::TestWithParam<bool> {
 protected:
  void SetUp() override {
    if (!has_fabric()) GTEST_SKIP() << "this build has no libfabric";
    if (::dlsym(RTLD_DEFAULT, "__tsan_init") != nullptr)
      GTEST_SKIP() << "ThreadSanitizer does not see the orderings within libfabric";
    if (::dlsym(RTLD_DEFAULT, "__lsan_do_leak_check") != nullptr)
      GTEST_SKIP() << "libfabric 1.17 does not give all memory back, which LeakSanitizer reports";
    for (Side* side : {&here_, &there_}) {
      auto opened = open_fabric({.provider = "tcp;ofi_rxm",
                                 .domain = "auto",
                                 .is_one_host = true,
                                 .peers_count = 1,
                                 .sends_count = 1,
                                 .receives_count = 1,
                                 .fragments_count = kFragments,
                                 .told_count = kFragments,
                                 .registers_all = GetParam()});
      if (!opened) GTEST_SKIP() << "no such provider here: " << opened.error().what;
      side->fabric = std::move(*opened);
      ASSERT_TRUE(side->fabric->traits().has_rma_endpoints);
      auto rma_endpoint = side->fabric->open_rma_endpoint();
      ASSERT_TRUE(rma_endpoint) << rma_endpoint.error().what;
      side->rma_endpoint = std::move(*rma_endpoint);
    }
    auto exposed = there_.fabric->expose({memory_, kRmaKey, PH_ACCESS_ALL}, *there_.rma_endpoint);
    ASSERT_TRUE(exposed) << exposed.error().what;
    exposed_ = *exposed;
    is_exposed_ = true;
    to_ = there();
    source_handle_ = shown(source_, Fabric::Use::sources);
    EXPECT_EQ(source_handle_ != 0, GetParam());
    EXPECT_EQ(here_.fabric->traits().registers_own, GetParam());
  }
  void TearDown() override {
    conceal();
    for (const std::uint64_t handle : handles_) here_.fabric->hide(handle);
    for (Side* side : {&here_, &there_}) {
      side->rma_endpoint.reset();
      if (side->fabric != nullptr) side->fabric->stop();
    }
  }

  std::uint64_t shown(std::span<std::byte> memory, Fabric::Use use) {
    auto shown = here_.fabric->show(memory, use);
    EXPECT_TRUE(shown) << shown.error().what;
    if (!shown || *shown == 0) return 0;
    handles_.push_back(*shown);
    return *shown;
  }

  std::uint64_t there() {
    const auto to = here_.fabric->insert(there_.rma_endpoint->address());
    EXPECT_TRUE(to) << to.error().what;
    return to ? *to : 0;
  }
  void conceal() {
    if (std::exchange(is_exposed_, false)) there_.fabric->conceal(exposed_);
  }
  Place place(std::uint64_t offset) const { return {exposed_.begin + offset, exposed_.key}; }
  // The deadline is the watchdog's.
  void until(const std::function<bool()>& done) {
    while (!done() && !HasFatalFailure()) {
      here_.look();
      there_.look();
    }
  }
  void write(std::span<std::byte> source, const Place& at, Operation& operation) {
    here_.over.erase(&operation);
    until([&] {
      const auto taken = here_.rma_endpoint->write(to_, {source, source_handle_}, at, operation);
      EXPECT_NE(taken, Taken::failed) << here_.fabric->words();
      return taken != Taken::full;
    });
  }
  // Whether it went well.
  bool is_well(const Operation& operation) {
    until([&] { return here_.over.count(&operation) == 1; });
    return here_.over[&operation];
  }

  photon::test::Watchdog watchdog_{std::chrono::seconds(60)};
  Side here_;
  Side there_;
  // More than the sockets between two sides hold.
  std::vector<std::byte> memory_ = std::vector<std::byte>(16 << 20);
  std::vector<std::byte> source_ = std::vector<std::byte>(16 << 20, std::byte{7});
  Exposed exposed_;
  bool is_exposed_ = false;
  std::uint64_t to_ = 0;
  std::uint64_t source_handle_ = 0;
  std::vector<std::uint64_t> handles_;
  Operation operations_[kFragments];
};

TEST_P(FabricRmaEndpoint, a_fabric_that_was_asked_for_none_has_none) {
  auto opened = open_fabric({.provider = "tcp;ofi_rxm",
                             .domain = "auto",
                             .is_one_host = true,
                             .peers_count = 1,
                             .sends_count = 1,
                             .receives_count = 1});
  ASSERT_TRUE(opened) << opened.error().what;
  EXPECT_FALSE((*opened)->traits().has_rma_endpoints);
  EXPECT_FALSE((*opened)->open_rma_endpoint());
  EXPECT_FALSE((*opened)->expose({memory_, kRmaKey, PH_ACCESS_ALL}, *there_.rma_endpoint));
}

TEST_P(FabricRmaEndpoint, what_is_written_is_there_when_it_is_over_and_nothing_beside_it) {
  for (const std::size_t bytes : {std::size_t{1}, std::size_t{4096}, std::size_t{1} << 20}) {
    std::fill(memory_.begin(), memory_.end(), std::byte{0});
    write(std::span(source_).first(bytes), place(64), operations_[0]);
    ASSERT_TRUE(is_well(operations_[0]));
    EXPECT_EQ(std::count(memory_.begin(), memory_.end(), std::byte{7}),
              static_cast<std::ptrdiff_t>(bytes));
    EXPECT_EQ(memory_[63], std::byte{0});
    EXPECT_EQ(memory_[64], std::byte{7});
  }
}

// Else "over" would mean that the bytes have left, which tcp says otherwise.
TEST_P(FabricRmaEndpoint, a_write_is_not_over_before_its_bytes_are_there) {
  write(std::span(source_).first(8), place(0), operations_[0]);
  ASSERT_TRUE(is_well(operations_[0]));  // they are connected
  write(std::span(source_).first(1000), place(4096), operations_[1]);
  for (int i = 0; i < 10'000; ++i) {
    here_.look();
    ASSERT_EQ(here_.over.count(&operations_[1]), std::size_t{memory_[5095] == std::byte{7}});
  }
  ASSERT_TRUE(is_well(operations_[1]));
  EXPECT_EQ(memory_[5095], std::byte{7});
}

TEST_P(FabricRmaEndpoint, what_is_read_has_come_when_it_is_over) {
  std::fill_n(memory_.begin() + 100, 5000, std::byte{9});
  std::vector<std::byte> into(5002);
  const std::uint64_t handle = shown(into, Fabric::Use::destinations);
  until([&] {
    return here_.rma_endpoint->read_from(to_, {std::span(into).subspan(1, 5000), handle},
                                         place(100), operations_[0]) != Taken::full;
  });
  ASSERT_TRUE(is_well(operations_[0]));
  EXPECT_EQ(std::count(into.begin(), into.end(), std::byte{9}), 5000);
  EXPECT_EQ(into.front(), std::byte{0});
  EXPECT_EQ(into.back(), std::byte{0});
}

// The connection breaks, and with it what else was under way; it is made anew when the provider
// has noticed. Messages go by another one.
TEST_P(FabricRmaEndpoint, a_fragment_that_is_refused_changes_nothing_and_later_ones_go) {
  const auto mail = here_.fabric->insert(there_.fabric->address(0));
  ASSERT_TRUE(mail);
  write(std::span(source_).first(8), place(0), operations_[0]);
  ASSERT_TRUE(is_well(operations_[0]));
  Place wrong = place(64);
  ++wrong.key;
  write(std::span(source_).first(1000), wrong, operations_[0]);
  EXPECT_FALSE(is_well(operations_[0]));
  EXPECT_EQ(memory_[64], std::byte{0});
  conceal();
  write(std::span(source_).first(1000), place(64), operations_[0]);
  EXPECT_FALSE(is_well(operations_[0])) << "what is concealed is refused";
  EXPECT_EQ(memory_[64], std::byte{0});
  const auto again = there_.fabric->expose({memory_, kRmaKey, PH_ACCESS_ALL}, *there_.rma_endpoint);
  ASSERT_TRUE(again) << again.error().what;
  exposed_ = *again;
  is_exposed_ = true;
  do {
    write(std::span(source_).first(1000), place(64), operations_[0]);
  } while (!is_well(operations_[0]) && !HasFatalFailure());
  EXPECT_EQ(memory_[1063], std::byte{7});
  std::vector<std::byte> letter(64, std::byte{5}), box(64);
  Operation received;
  ASSERT_EQ(there_.fabric->receive({box, 0}, received), Taken::yes);
  until([&] { return here_.fabric->send({*mail}, {letter, 0}, operations_[1]) != Taken::full; });
  until([&] { return there_.over.count(&received) == 1; });
  EXPECT_EQ(box[63], std::byte{5});
}

// Concealing does not: this is why taking memory back has to end the RMA endpoint if a peer may be
// writing.
TEST_P(FabricRmaEndpoint, the_end_of_a_rma_endpoint_ends_what_a_peer_is_writing) {
  write(std::span(source_).first(8), place(0), operations_[0]);
  ASSERT_TRUE(is_well(operations_[0]));
  write(source_, place(0), operations_[0]);
  until([&] { return memory_[100'000] == std::byte{7}; });
  conceal();
  there_.rma_endpoint.reset();
  const auto before = memory_;
  EXPECT_FALSE(is_well(operations_[0]));
  EXPECT_TRUE(memory_ == before);
  auto rma_endpoint = there_.fabric->open_rma_endpoint();
  ASSERT_TRUE(rma_endpoint) << rma_endpoint.error().what;
  there_.rma_endpoint = std::move(*rma_endpoint);
  const auto again = there_.fabric->expose({memory_, kRmaKey, PH_ACCESS_ALL}, *there_.rma_endpoint);
  ASSERT_TRUE(again) << again.error().what;
  exposed_ = *again;
  is_exposed_ = true;
  to_ = there();
  write(source_, place(0), operations_[0]);
  ASSERT_TRUE(is_well(operations_[0])) << "the new one";
  EXPECT_TRUE(memory_ == source_);
}

// Half of it has come. Its data must not have come with the first half: libfabric 1.17 would end
// this process at the end of the RMA endpoint, by a signal.
TEST_P(FabricRmaEndpoint,
       the_end_of_a_rma_endpoint_ends_a_write_that_is_to_tell_and_tells_nothing) {
  write(std::span(source_).first(8), place(0), operations_[0]);
  ASSERT_TRUE(is_well(operations_[0]));
  operations_[0].data = 1;
  write(source_, place(0), operations_[0]);
  until([&] { return memory_[100'000] == std::byte{7}; });
  conceal();
  there_.rma_endpoint.reset();
  EXPECT_FALSE(is_well(operations_[0]));
  EXPECT_TRUE(there_.told.empty());
}

TEST_P(FabricRmaEndpoint, the_end_of_a_rma_endpoint_ends_what_a_peer_is_reading) {
  std::vector<std::byte> into(memory_.size());
  std::fill(memory_.begin(), memory_.end(), std::byte{9});
  const std::uint64_t handle = shown(into, Fabric::Use::destinations);
  until([&] {
    return here_.rma_endpoint->read_from(to_, {into, handle}, place(0), operations_[0]) !=
           Taken::full;
  });
  until([&] { return into[100'000] == std::byte{9}; });
  conceal();
  there_.rma_endpoint.reset();
  EXPECT_FALSE(is_well(operations_[0]));
}

// The connection breaks with half of one here, and others behind it.
TEST_P(FabricRmaEndpoint, the_end_of_a_writer_harms_nobody_and_tells_nothing) {
  write(std::span(source_).first(8), place(0), operations_[0]);
  ASSERT_TRUE(is_well(operations_[0]));
  for (std::uint64_t i = 0; i < kFragments; ++i) {
    operations_[i].data = i;
    write(i == 0 ? std::span(source_) : std::span(source_).first(100'000), place(0),
          operations_[i]);
  }
  until([&] { return memory_[100'000] == std::byte{7}; });
  here_.rma_endpoint.reset();
  for (int i = 0; i < 10'000; ++i) there_.look();
  there_.rma_endpoint.reset();
  EXPECT_TRUE(there_.told.empty());
}

// Whose own end of the RMA endpoint ends has nothing under way, whether its peer answers or not.
TEST_P(FabricRmaEndpoint, the_end_of_our_rma_endpoint_ends_our_fragments) {
  write(std::span(source_).first(8), place(0), operations_[0]);
  ASSERT_TRUE(is_well(operations_[0]));
  write(std::span(source_).first(8), place(8), operations_[1]);  // nobody looks there
  here_.rma_endpoint.reset();
  std::fill(source_.begin(), source_.end(), std::byte{0xee});
  here_.over.clear();
  for (int i = 0; i < 1000; ++i) {
    here_.look();
    there_.look();
  }
  EXPECT_EQ(std::count(memory_.begin(), memory_.end(), std::byte{0xee}), 0);
}

TEST_P(FabricRmaEndpoint, a_write_that_bears_data_tells_it_once_when_its_bytes_are_there) {
  ASSERT_EQ(here_.fabric->traits().data_bytes, 8u);
  constexpr std::uint64_t kData = 0x8765'4321'0fed'cba9;
  operations_[0].data = kData;
  write(std::span(source_).first(1000), place(64), operations_[0]);
  until([&] { return !there_.told.empty(); });
  EXPECT_EQ(memory_[1063], std::byte{7});
  ASSERT_TRUE(is_well(operations_[0]));
  write(std::span(source_).first(1000), place(64), operations_[1]);  // it bears none
  ASSERT_TRUE(is_well(operations_[1]));
  for (int i = 0; i < 1000; ++i) there_.look();
  EXPECT_EQ(there_.told, std::vector<std::uint64_t>{kData});
}

// What a fragment tells can be read before anything that its initiator said when it was over.
TEST_P(FabricRmaEndpoint, what_a_write_tells_comes_before_its_initiator_knows_that_it_is_over) {
  for (std::uint64_t i = 0; i < 500; ++i) {
    operations_[0].data = i;
    write(std::span(source_).first(100'000), place(0), operations_[0]);
    ASSERT_TRUE(is_well(operations_[0]));
    there_.look();
    ASSERT_EQ(there_.told.size(), i + 1);
    ASSERT_EQ(there_.told.back(), i);
  }
}

TEST_P(FabricRmaEndpoint, a_write_that_is_refused_tells_nothing) {
  operations_[0].data = 1;
  Place wrong = place(64);
  ++wrong.key;
  write(std::span(source_).first(1000), wrong, operations_[0]);
  EXPECT_FALSE(is_well(operations_[0]));
  for (int i = 0; i < 1000; ++i) there_.look();
  EXPECT_TRUE(there_.told.empty());
}

INSTANTIATE_TEST_SUITE_P(, FabricRmaEndpoint, testing::Bool(),
                         [](const auto& one) { return one.param ? "registered" : "as_it_is"; });

}  // namespace
}  // namespace photon::transport::ofi
