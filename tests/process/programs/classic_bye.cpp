// A classic program whose last words come after main(): a global's destructor still talks to the
// peers, as that of a runtime does.
//
//   classic_bye finalize     the destructor meets its neighbours, then photon_finalize()
//   classic_bye stay         it meets them, and the session is left to the end of the process
//   classic_bye hand_over    a global's memory is still being put when main() returns
//   classic_bye unread       many ids are under way that nobody will take
#include <photon.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

namespace {

constexpr std::uint64_t kBye = 4711, kHandedOver = 4712, kMet = 4713;
constexpr std::uint64_t kBytes = 32 << 20;

std::string what_to_do;
int rank, size;

[[noreturn]] void die(const char* what) {
  std::printf("rank %d: %s\n", rank, what);
  std::fflush(stdout);
  std::_Exit(1);
}

void require(int status, const char* what) {
  if (status != PHOTON_OK) die(what);
}

photon_cid word(std::uint64_t value) {
  photon_cid id{};
  id.u64 = value;
  return id;
}

int notify(int peer, std::uint64_t id) {
  int status = PHOTON_ERROR_RESOURCE;
  while (status == PHOTON_ERROR_RESOURCE)
    status = photon_put_with_completion(peer, 0, nullptr, nullptr, word(0), word(id),
                                        PHOTON_REQ_PWC_NO_LCE);
  return status;
}

void await(std::uint64_t id) {
  for (int flag = 0; flag == 0;) {
    photon_cid found{};
    require(photon_probe_completion(PHOTON_ANY_SOURCE, &flag, nullptr, &found, nullptr, nullptr,
                                    PHOTON_PROBE_LEDGER),
            "no probe");
    if (flag != 0 && found.u64 != id) die("an id is wrong");
  }
}

// Made before main(), gone after it.
struct Runtime {
  std::vector<unsigned char> memory;
  ~Runtime() {
    if (what_to_do != "finalize" && what_to_do != "stay") return;
    require(notify((rank + 1) % size, kBye), "no put");
    await(kBye);
    if (what_to_do == "finalize") require(photon_finalize(), "no finalize");
    std::printf("rank %d said bye\n", rank);
  }
};
Runtime runtime;

// To the next rank, which is told; then main() returns at once. A rank that ends takes back what
// nobody has met, so rank 0 waits until the last one has met its buffer.
void hand_over() {
  runtime.memory.assign(kBytes, static_cast<unsigned char>(1 + rank));
  static unsigned char* inbox = static_cast<unsigned char*>(std::malloc(kBytes));
  const int next = (rank + 1) % size, before = (rank + size - 1) % size;
  photon_rid mine = 0, theirs = 0;
  photon_buffer_t target{};
  require(photon_post_recv_buffer_rdma(before, inbox, kBytes, 1, &mine), "no buffer");
  require(photon_wait_recv_buffer_rdma(next, kBytes, 1, &theirs), "nothing met");
  if (next == 0) require(notify(0, kMet), "no word");
  if (rank == 0) await(kMet);
  require(photon_get_buffer_remote(theirs, &target), "no target");
  photon_buffer_t source{reinterpret_cast<std::uintptr_t>(runtime.memory.data()), kBytes, {0, 0}};
  require(photon_put_with_completion(next, kBytes, &source, &target, word(1), word(kHandedOver), 0),
          "no put");
  if (rank == 0) return;  // the others wait for what comes
  await(kHandedOver);
  for (std::uint64_t i = 0; i < kBytes; ++i)
    if (inbox[i] != 1 + before) die("a byte is wrong");
  std::printf("rank %d has it all\n", rank);
}

// Who has come to its end first takes no more: then there is enough under way.
void leave_unread() {
  constexpr std::uint64_t kMost = 20'000;
  for (std::uint64_t i = 0; i < kMost; ++i)
    for (int peer = 0; peer < size; ++peer)
      if (notify(peer, i) != PHOTON_OK) return;
}

}  // namespace

int main(int argc, char** argv) {
  photon_config_t config;
  std::memset(&config, 0, sizeof config);
  if (argc < 2 || photon_init(&config) != PHOTON_OK) std::_Exit(1);
  rank = config.address;
  size = config.nproc;
  what_to_do = argv[1];
  if (what_to_do == "hand_over") hand_over();
  if (what_to_do == "unread") leave_unread();
  return 0;
}
