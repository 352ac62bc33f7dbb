// Gets and puts: bytes, when a put is over, descriptors, registrations that are never taken back.
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <string>

#include "calls.hpp"

namespace photon::test {

namespace {

std::atomic<std::uint64_t> ended{0};

void on_ended(comm_backend::Status status) {
  expect(status.user_context == &ended, "a completion is told another context");
  ++ended;
}

// Memory of each node that its neighbours see as well, so that they know what has landed in it.
struct Shared {
  int node;
  int descriptor;
  int pid;
};
constexpr std::size_t kSharedBytes = 2'000'000;

std::array<const unsigned char*, 64> shared_of{};
std::size_t put_bytes = 0;
std::uint64_t puts_landed = 0;
std::uint64_t puts_told = 0;
std::uint64_t answers = 0;
comm_backend::AmHandler news_handler, answer_handler;

int neighbour() { return (comm_backend::getMyNodeId() + 1) % comm_backend::getNumNodes(); }

unsigned char* map_shared(int descriptor) {
  void* const memory =
      ::mmap(nullptr, kSharedBytes, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
  expect(memory != MAP_FAILED, "shared memory cannot be mapped");
  return static_cast<unsigned char*>(memory);
}

void on_shared(comm_backend::Status status) {
  Shared told;
  std::memcpy(&told, status.local_buf, sizeof told);
  free_message(status);
  const std::string path =
      "/proc/" + std::to_string(told.pid) + "/fd/" + std::to_string(told.descriptor);
  const int descriptor = ::open(path.c_str(), O_RDWR | O_CLOEXEC);
  expect(descriptor >= 0, "shared memory of a neighbour cannot be opened");
  shared_of[static_cast<std::size_t>(told.node)] = map_shared(descriptor);
  ::close(descriptor);
}

// The completion of a put. From inside it goes the news, as a runtime's.
void on_landed(comm_backend::Status status) {
  const auto round = reinterpret_cast<std::uintptr_t>(status.user_context);
  expect(is_filled(shared_of[static_cast<std::size_t>(neighbour())], put_bytes,
                   static_cast<unsigned>(round)),
         "a put was over before its bytes had landed");
  ++puts_landed;
  const std::uint64_t news[] = {static_cast<std::uint64_t>(comm_backend::getMyNodeId()), round};
  comm_backend::issueAm(neighbour(), news, sizeof news, comm_backend::MR_NULL, nullptr,
                        news_handler, nullptr);
}

void on_news(comm_backend::Status status) {
  std::array<std::uint64_t, 2> news;
  std::memcpy(news.data(), status.local_buf, sizeof news);
  free_message(status);
  expect(is_filled(shared_of[static_cast<std::size_t>(comm_backend::getMyNodeId())], put_bytes,
                   static_cast<unsigned>(news[1])),
         "the news of a put came before its bytes");
  ++puts_told;
  comm_backend::issueAm(static_cast<int>(news[0]), nullptr, 0, comm_backend::MR_NULL, nullptr,
                        answer_handler, nullptr);
}

}  // namespace

// Each node reads from and writes to its neighbour, at odd places of a region.
void moves() {
  constexpr std::size_t kSizes[] = {0, 1, 8, 4096, 65536, 1048576, 3000001};
  constexpr std::size_t kOffset = 37;
  constexpr std::size_t kRoom = 3000100;
  Regions regions;
  Bytes memory = filled(kRoom, 1);
  memory.resize(2 * kRoom);  // read from the first half, written to the second
  regions.exchange(memory.data(), memory.size());
  const int nodes = comm_backend::getNumNodes();
  const int peer = (comm_backend::getMyNodeId() + 1) % nodes;
  for (const std::size_t size_bytes : kSizes) {
    ended = 0;
    Bytes read(size_bytes + 1, 0xaa);
    char* const there = static_cast<char*>(regions.address(peer)) + kOffset;
    comm_backend::issueRget(peer, read.data(), size_bytes, comm_backend::MR_NULL, there,
                            regions.of(peer), on_ended, &ended);
    const Bytes written = filled(size_bytes, static_cast<unsigned>(size_bytes));
    comm_backend::issueRput(peer, written.data(), size_bytes, comm_backend::MR_NULL,
                            kRoom + kOffset, regions.of(peer), on_ended, &ended);
    await([] { return ended == 2; }, "a get and a put");
    const Bytes whole = filled(kRoom, 1);
    expect(size_bytes == 0 || std::memcmp(read.data(), &whole[kOffset], size_bytes) == 0,
           "a get has read other bytes");
    expect(read.back() == 0xaa, "a get has written behind its bytes");
    comm_backend::barrier();
    const unsigned char* const landed = memory.data() + kRoom + kOffset;
    expect(is_filled(landed, size_bytes, static_cast<unsigned>(size_bytes)),
           "a put has written other bytes");
    if (size_bytes == 0) expect(landed[0] == 0, "a put of nothing has written");
    comm_backend::barrier();
  }
  comm_backend::deregisterMemory(regions.own());
}

void landed() {
  Regions regions;
  news_handler = comm_backend::registerAmHandler(on_news);
  answer_handler = comm_backend::registerAmHandler([](comm_backend::Status status) {
    free_message(status);
    ++answers;
  });
  const auto shared_handler = comm_backend::registerAmHandler(on_shared);
  const int file = ::memfd_create("landing", MFD_CLOEXEC);
  expect(::ftruncate(file, kSharedBytes) == 0, "no shared memory");
  unsigned char* const landing = map_shared(file);
  regions.exchange(landing, kSharedBytes);
  const Shared told = {comm_backend::getMyNodeId(), file, ::getpid()};
  const int nodes = comm_backend::getNumNodes();
  for (int node = 0; node < nodes; ++node)
    comm_backend::issueAm(node, &told, sizeof told, comm_backend::MR_NULL, nullptr, shared_handler,
                          nullptr);
  for (int node = 0; node < nodes; ++node)
    await([&] { return shared_of[static_cast<std::size_t>(node)] != nullptr; }, "shared memory");
  std::uint64_t round = 0;
  for (const std::size_t size_bytes : {64UL, 3000UL, 65536UL, 300000UL, 2000000UL}) {
    comm_backend::barrier();
    put_bytes = size_bytes;
    comm_backend::barrier();
    for (int i = 0; i < 8; ++i) {
      const Bytes source = filled(size_bytes, static_cast<unsigned>(++round));
      comm_backend::issueRput(neighbour(), source.data(), size_bytes, comm_backend::MR_NULL, 0,
                              regions.of(neighbour()), on_landed, reinterpret_cast<void*>(round));
      await([&] { return answers == round && puts_told >= round; }, "an answer of the neighbour");
    }
  }
  expect(puts_landed == round, "another number of puts");
  comm_backend::barrier();
  comm_backend::deregisterMemory(regions.own());
}

void descriptor() {
  Bytes memory(1000);
  const comm_backend::mr_t whole = comm_backend::registerMemory(memory.data(), memory.size());
  const comm_backend::mr_t part = comm_backend::registerMemory(memory.data() + 100, 50);
  const comm_backend::mr_t nothing = comm_backend::registerMemory(nullptr, 0);
  for (const comm_backend::mr_t mr : {whole, part, nothing}) {
    expect(mr != comm_backend::MR_NULL, "a region is MR_NULL");
    alignas(8) std::array<unsigned char, 33> place;
    place.fill(0x55);
    const std::size_t size_bytes = comm_backend::getRMR(mr, &place[1], 24);
    expect(size_bytes != 0 && size_bytes <= 24, "a descriptor has more than 24 bytes");
    expect(place[0] == 0x55, "bytes before a descriptor were written");
    for (std::size_t i = 25; i < place.size(); ++i)
      expect(place[i] == 0x55, "bytes behind a descriptor were written");
  }
  for (const comm_backend::mr_t mr : {nothing, part, whole}) comm_backend::deregisterMemory(mr);
}

void live_registrations() {
  Regions regions;
  std::vector<Bytes> blocks(1000, Bytes(5000, 7));
  for (Bytes& block : blocks)
    expect(comm_backend::registerMemory(block.data(), block.size()) != comm_backend::MR_NULL,
           "a region is MR_NULL");
  Bytes memory(100000, 9);
  regions.exchange(memory.data(), memory.size());
  const int peer = (comm_backend::getMyNodeId() + 1) % comm_backend::getNumNodes();
  Bytes read(memory.size());
  comm_backend::issueRget(peer, read.data(), read.size(), comm_backend::MR_NULL,
                          regions.address(peer), regions.of(peer), on_ended, &ended);
  await([] { return ended == 1; }, "a get");
  expect(read == memory, "a get has read other bytes");
  comm_backend::barrier();
  comm_backend::exit();
}

}  // namespace photon::test
