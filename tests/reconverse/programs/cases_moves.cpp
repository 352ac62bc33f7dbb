// Gets and puts: bytes, when a put is over, descriptors, registrations that are never taken back.
#include <array>

#include "calls.hpp"

namespace photon::test {

namespace {

std::atomic<std::uint64_t> ended{0};

void on_ended(comm_backend::Status status) {
  expect(status.user_context == &ended, "a completion is told another context");
  ++ended;
}

Bytes landing;
std::size_t landing_bytes = 0;
std::atomic<std::uint64_t> rounds_heard{0};
std::atomic<std::uint64_t> rounds_answered{0};
comm_backend::AmHandler news_handler, checked_handler;

// From inside the completion of the put, as the runtime tells its news.
void on_landed(comm_backend::Status status) {
  const auto round = reinterpret_cast<std::uintptr_t>(status.user_context);
  const std::uint64_t news[] = {static_cast<std::uint64_t>(comm_backend::getMyNodeId()), round};
  comm_backend::issueAm((comm_backend::getMyNodeId() + 1) % comm_backend::getNumNodes(), news,
                        sizeof news, comm_backend::MR_NULL, nullptr, news_handler, nullptr);
}

void on_news(comm_backend::Status status) {
  std::array<std::uint64_t, 2> news;
  std::memcpy(news.data(), status.local_buf, sizeof news);
  free_message(status);
  expect(is_filled(landing.data(), landing_bytes, static_cast<unsigned>(news[1])),
         "a put was over before its bytes had landed");
  ++rounds_heard;
  comm_backend::issueAm(static_cast<int>(news[0]), nullptr, 0, comm_backend::MR_NULL, nullptr,
                        checked_handler, nullptr);
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
  checked_handler = comm_backend::registerAmHandler([](comm_backend::Status status) {
    free_message(status);
    ++rounds_answered;
  });
  landing.resize(2'000'000);
  regions.exchange(landing.data(), landing.size());
  const int peer = (comm_backend::getMyNodeId() + 1) % comm_backend::getNumNodes();
  std::uint64_t round = 0;
  for (const std::size_t size_bytes : {64UL, 3000UL, 65536UL, 1048576UL, 2000000UL}) {
    comm_backend::barrier();
    landing_bytes = size_bytes;
    comm_backend::barrier();
    for (int i = 0; i < 8; ++i) {
      const Bytes source = filled(size_bytes, static_cast<unsigned>(++round));
      comm_backend::issueRput(peer, source.data(), size_bytes, comm_backend::MR_NULL, 0,
                              regions.of(peer), on_landed, reinterpret_cast<void*>(round));
      await([&] { return rounds_answered == round; }, "an answer of the peer");
    }
  }
  comm_backend::barrier();
  expect(rounds_heard == round, "another number of puts");
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
