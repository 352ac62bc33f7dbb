// Too much at once, peers that leave early, and what must end the job with words.
#include <array>

#include "calls.hpp"

namespace photon::test {

namespace {

constexpr std::uint64_t kCalls = 20'000;  // from inside completions, on each node
constexpr std::uint64_t kAtOnce = 4000;
constexpr std::uint64_t kSmallsFirst = 3000;  // until photon has no memory for more in a handler
constexpr std::size_t kBlock = 256;
constexpr std::size_t kBlocks = 128;
constexpr std::size_t kLarge = 40'000;  // too large to be copied when it starts

struct Numbered {
  std::uint64_t from;
  std::uint64_t number;
};

Regions* all = nullptr;
comm_backend::AmHandler go_handler, small_handler, large_handler;
std::uint64_t issued = 0;
std::uint64_t smalls_issued = 0;
std::uint64_t larges_issued = 0;
std::uint64_t ended = 0;
std::uint64_t smalls_came = 0;
std::uint64_t larges_came = 0;
std::array<Bytes, kBlocks> read_blocks;
Bytes block_source, large_source;

int neighbour() { return (comm_backend::getMyNodeId() + 1) % comm_backend::getNumNodes(); }

void on_over(comm_backend::Status status);

void issue_one() {
  const std::uint64_t number = issued++;
  const std::size_t block = number % kBlocks;
  const bool is_small = number < kSmallsFirst || number % 4 >= 2;
  if (number >= kSmallsFirst && number % 100 == 99) {
    ++larges_issued;
    comm_backend::issueAm(neighbour(), large_source.data(), kLarge, comm_backend::MR_NULL, on_over,
                          large_handler, nullptr);
  } else if (!is_small && number % 4 == 0) {
    comm_backend::issueRget(neighbour(), read_blocks[block].data(), kBlock, comm_backend::MR_NULL,
                            all->address(neighbour()), all->of(neighbour()), on_over, nullptr);
  } else if (!is_small) {
    comm_backend::issueRput(neighbour(), block_source.data(), kBlock, comm_backend::MR_NULL,
                            (block + 1) * kBlock, all->of(neighbour()), on_over, nullptr);
  } else {
    auto* const message =
        new Numbered{static_cast<std::uint64_t>(comm_backend::getMyNodeId()), smalls_issued++};
    comm_backend::issueAm(neighbour(), message, sizeof *message, comm_backend::MR_NULL, on_over,
                          small_handler, message);
  }
}

// One call for each that is over, though such a call may be over itself in the call.
void on_over(comm_backend::Status status) {
  ++ended;
  delete static_cast<Numbered*>(status.user_context);
  if (issued < kCalls) issue_one();
}

void on_small(comm_backend::Status status) {
  Numbered message;
  std::memcpy(&message, status.local_buf, sizeof message);
  free_message(status);
  expect(message.number == smalls_came++, "messages came out of order");
}

void on_large(comm_backend::Status status) {
  expect(status.size == kLarge && is_filled(status.local_buf, kLarge, 5),
         "a large message has other bytes");
  free_message(status);
  ++larges_came;
}

}  // namespace

// Completions issue the next call, while all that they need is used up.
void full_queues() {
  Regions regions;
  all = &regions;
  small_handler = comm_backend::registerAmHandler(on_small);
  large_handler = comm_backend::registerAmHandler(on_large);
  go_handler = comm_backend::registerAmHandler([](comm_backend::Status status) {
    free_message(status);
    for (std::uint64_t i = 0; i < kAtOnce; ++i) issue_one();
  });
  Bytes memory = filled(kBlock, 3);
  memory.resize((kBlocks + 1) * kBlock);
  block_source = filled(kBlock, 4);
  large_source = filled(kLarge, 5);
  for (Bytes& block : read_blocks) block.resize(kBlock);
  regions.exchange(memory.data(), memory.size());
  comm_backend::barrier();
  comm_backend::issueAm(comm_backend::getMyNodeId(), nullptr, 0, comm_backend::MR_NULL, nullptr,
                        go_handler, nullptr);
  await(
      [] {
        return ended == kCalls && smalls_came == smalls_issued && larges_came == larges_issued;
      },
      "calls from inside completions");
  comm_backend::barrier();
  for (std::size_t block = 0; block < kBlocks; ++block) {
    const bool is_read = block % 4 == 0;
    if (is_read) expect(is_filled(read_blocks[block].data(), kBlock, 3), "a get has other bytes");
    if (block % 4 == 1)
      expect(is_filled(&memory[(block + 1) * kBlock], kBlock, 4), "a put has other bytes");
  }
  comm_backend::deregisterMemory(regions.own());
}

// The last node leaves without a barrier, with messages on their way from it and to it.
void left_behind() {
  const auto handler = comm_backend::registerAmHandler([](comm_backend::Status status) {
    free_message(status);
    ++larges_came;
  });
  const int last = comm_backend::getNumNodes() - 1;
  comm_backend::barrier();
  const Bytes bytes = filled(kLarge, 5);
  if (comm_backend::getMyNodeId() == last) {
    for (int i = 0; i < 100; ++i)
      comm_backend::issueAm(0, bytes.data(), kLarge, comm_backend::MR_NULL, nullptr, handler,
                            nullptr);
    comm_backend::exit();
  } else if (comm_backend::getMyNodeId() == 0) {
    await([] { return larges_came == 100; }, "messages of a node that has left");
  }
}

void no_such_node() {
  comm_backend::issueAm(comm_backend::getNumNodes(), nullptr, 0, comm_backend::MR_NULL, nullptr,
                        comm_backend::registerAmHandler(on_small), nullptr);
}

void no_such_handler() {
  comm_backend::issueAm(0, nullptr, 0, comm_backend::MR_NULL, nullptr, 5, nullptr);
  await([] { return false; }, "no words came");
}

void no_such_region() {
  Bytes memory(100);
  const comm_backend::mr_t mr = comm_backend::registerMemory(memory.data(), memory.size());
  Descriptor descriptor;
  comm_backend::getRMR(mr, descriptor.bytes, sizeof descriptor.bytes);
  comm_backend::deregisterMemory(mr);
  Bytes read(100);
  comm_backend::issueRget(0, read.data(), 100, comm_backend::MR_NULL, memory.data(),
                          descriptor.bytes, nullptr, nullptr);
  await([] { return false; }, "no words came");
}

void taken_back_twice() {
  Bytes memory(100);
  const comm_backend::mr_t mr = comm_backend::registerMemory(memory.data(), memory.size());
  comm_backend::deregisterMemory(mr);
  comm_backend::deregisterMemory(mr);
}

void little_room() {
  Bytes memory(100);
  const comm_backend::mr_t mr = comm_backend::registerMemory(memory.data(), memory.size());
  Descriptor descriptor;
  comm_backend::getRMR(mr, descriptor.bytes, 23);
}

}  // namespace photon::test
