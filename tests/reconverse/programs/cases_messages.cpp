// Messages: all sizes, threads, barriers, a job of one.
#include <memory>
#include <thread>

#include "calls.hpp"

namespace photon::test {

namespace {

constexpr std::size_t kSizes[] = {0,     1,      47,     48,      49,      191,     192,    193,
                                  1024,  1025,   4096,   16384,   32767,   32768,   32769,  65536,
                                  65537, 100000, 262144, 1048576, 1048577, 4194304, 8388608};
constexpr std::size_t kSizesCount = std::size(kSizes);

std::atomic<std::uint64_t> came{0};
std::atomic<std::uint64_t> gone{0};

// The caller's memory again: what is written to it now must reach nobody.
void on_gone(comm_backend::Status status) {
  Bytes* const bytes = static_cast<Bytes*>(status.user_context);
  expect(status.local_buf == bytes->data() && status.size == bytes->size(),
         "a completion is told other bytes");
  std::fill(bytes->begin(), bytes->end(), static_cast<unsigned char>(0xee));
  delete bytes;
  ++gone;
}

void on_sized(comm_backend::Status status) {
  expect(status.user_context == nullptr, "a message has a context");
  expect(reinterpret_cast<std::uintptr_t>(status.local_buf) % 16 == 0, "a message is not aligned");
  expect(is_filled(status.local_buf, status.size, static_cast<unsigned>(status.size)),
         "a message has other bytes");
  free_message(status);
  ++came;
}

void send_sized(int node, std::size_t size_bytes, comm_backend::AmHandler handler) {
  auto* const bytes = new Bytes(filled(size_bytes, static_cast<unsigned>(size_bytes)));
  comm_backend::issueAm(node, bytes->data(), size_bytes, comm_backend::MR_NULL, on_gone, handler,
                        bytes);
}

comm_backend::AmHandler asked_handler, answered_handler;
std::atomic<bool> is_answered{false};

}  // namespace

void sizes() {
  const auto handler = comm_backend::registerAmHandler(on_sized);
  const int nodes = comm_backend::getNumNodes();
  comm_backend::barrier();
  for (const std::size_t size_bytes : kSizes)
    for (int node = 0; node < nodes; ++node) send_sized(node, size_bytes, handler);
  const std::uint64_t all = kSizesCount * static_cast<std::uint64_t>(nodes);
  await([&] { return came == all && gone == all; }, "messages of all sizes");
  comm_backend::barrier();
}

// Node 0 answers from inside the barrier, which the others enter when they have the answer.
void barrier() {
  asked_handler = comm_backend::registerAmHandler([](comm_backend::Status status) {
    int asker = 0;
    std::memcpy(&asker, status.local_buf, sizeof asker);
    free_message(status);
    comm_backend::issueAm(asker, &asker, sizeof asker, comm_backend::MR_NULL, nullptr,
                          answered_handler, nullptr);
  });
  answered_handler = comm_backend::registerAmHandler([](comm_backend::Status status) {
    free_message(status);
    is_answered = true;
  });
  const int me = comm_backend::getMyNodeId();
  for (int round = 0; round < 20; ++round) {
    if (me != 0) {
      is_answered = false;
      comm_backend::issueAm(0, &me, sizeof me, comm_backend::MR_NULL, nullptr, asked_handler,
                            nullptr);
      await([] { return is_answered.load(); }, "a node in the barrier does not answer");
    }
    comm_backend::barrier();
  }
}

// Four threads of each node send, read, write and make progress at the same time.
void threads() {
  constexpr int kThreads = 4;
  constexpr std::uint64_t kEach = 500;
  constexpr std::size_t kBlock = 3000;
  const auto handler = comm_backend::registerAmHandler(on_sized);
  Regions regions;
  const int nodes = comm_backend::getNumNodes();
  const int peer = (comm_backend::getMyNodeId() + 1) % nodes;
  // The first block is read by the others; each thread of a peer writes to one of its own.
  Bytes memory = filled(kBlock, 1);
  memory.resize((kThreads + 1) * kBlock);
  regions.exchange(memory.data(), memory.size());
  std::atomic<std::uint64_t> moved{0};
  const auto work = [&](int thread) {
    comm_backend::initThread(thread, kThreads);
    std::vector<Bytes> read(kEach, Bytes(kBlock));
    const Bytes written = filled(kBlock, static_cast<unsigned>(thread) + 2);
    const auto count = [](comm_backend::Status status) {
      ++*static_cast<std::atomic<std::uint64_t>*>(status.user_context);
    };
    for (std::uint64_t i = 0; i < kEach; ++i) {
      send_sized(peer, i % 50 == 0 ? 40000 : i, handler);
      comm_backend::issueRget(peer, read[i].data(), kBlock, comm_backend::MR_NULL,
                              regions.address(peer), regions.of(peer), count, &moved);
      comm_backend::issueRput(peer, written.data(), kBlock, comm_backend::MR_NULL,
                              static_cast<std::uintptr_t>(thread + 1) * kBlock, regions.of(peer),
                              count, &moved);
      comm_backend::progress();
    }
    constexpr std::uint64_t kAll = kThreads * kEach;
    await([&] { return came == kAll && gone == kAll && moved == 2 * kAll; }, "what threads issued");
    for (const Bytes& block : read)
      expect(is_filled(block.data(), kBlock, 1), "a thread has read other bytes");
    comm_backend::exitThread();
  };
  std::vector<std::jthread> others;
  for (int thread = 1; thread < kThreads; ++thread) others.emplace_back(work, thread);
  work(0);
  others.clear();
  comm_backend::barrier();
  for (unsigned thread = 0; thread < kThreads; ++thread)
    expect(is_filled(memory.data() + (thread + 1) * kBlock, kBlock, thread + 2),
           "a thread's bytes did not land");
  comm_backend::deregisterMemory(regions.own());
}

// The next job of the same processes.
void twice() {
  sizes();
  came = gone = 0;
  comm_backend::exit();
  comm_backend::init(nullptr);
  sizes();
}

// Copied messages, whose sender may not have been told that they were handled when a node leaves.
void many_jobs() {
  for (int job = 0; job < 30; ++job) {
    if (job != 0) comm_backend::init(nullptr);
    const auto handler = comm_backend::registerAmHandler(on_sized);
    const int nodes = comm_backend::getNumNodes();
    came = gone = 0;
    comm_backend::barrier();
    constexpr std::uint64_t kEach = 7;
    for (std::uint64_t i = 0; i < kEach; ++i)
      for (int node = 0; node < nodes; ++node) send_sized(node, 1000, handler);
    const std::uint64_t all = kEach * static_cast<std::uint64_t>(nodes);
    await([&] { return came == all && gone == all; }, "copied messages");
    comm_backend::barrier();
    if (job != 29) comm_backend::exit();
  }
}

// A node that is left alone by its runtime: calls return, and move nothing.
void alone() {
  expect(comm_backend::getNumNodes() == 1 && comm_backend::getMyNodeId() == 0, "a job of one");
  expect(comm_backend::isRMACapable(), "puts and gets are there");
  comm_backend::exit();
  const auto never = [](comm_backend::Status) { wrong("a handler runs after exit()"); };
  const auto handler = comm_backend::registerAmHandler(never);
  char byte = 0;
  comm_backend::issueAm(0, &byte, 1, comm_backend::MR_NULL, never, handler, nullptr);
  expect(comm_backend::registerMemory(&byte, 1) == comm_backend::MR_NULL, "a region after exit()");
  expect(comm_backend::getRMR(comm_backend::MR_NULL, &byte, 1) == 0, "a descriptor after exit()");
  comm_backend::issueRget(0, &byte, 1, comm_backend::MR_NULL, &byte, nullptr, never, nullptr);
  comm_backend::issueRput(0, &byte, 1, comm_backend::MR_NULL, 0, nullptr, never, nullptr);
  comm_backend::deregisterMemory(comm_backend::MR_NULL);
  expect(!comm_backend::progress(), "progress after exit()");
  comm_backend::barrier();
  comm_backend::free(comm_backend::malloc(100, sizeof(Chunk)));
  expect(comm_backend::getNumNodes() == 1, "a job of one after exit()");
}

}  // namespace photon::test
