// A classic program as they are written: rank 0 puts to rank 1, one put after the other, and waits
// for the local id of each; it never looks for PHOTON_ERROR_RESOURCE, which would be a failure.
// Rank 1 makes no call for a while each time it has taken so many: for so many ms, or until rank 0
// gets no further, which it hears by a FIFO. All go to one place, so nothing is said of what stands
// there: tests/engine/serial_loop_test.cpp looks at the bytes.
//
//   classic_serial <puts> <bytes> <taken between pauses> <ms of a pause, or a FIFO>
//                  [<bytes of an id, by address; 0: a word> [<KB that it may grow by>]]
//
// Each rank measures how its resident size grows from the third pause on, or from half of the puts
// on: all that is kept for a peer has been touched by then, and one put more may hold nothing. More
// than the last argument is a failure. It looks while puts wait, when what they held would be
// there, and at its page tables: the kernel's counters (getrusage, statm) lag behind by up to
// 32 pages for each core and kind of memory, and count pages of program files.
#include <fcntl.h>
#include <photon.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <climits>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

namespace {

using Clock = std::chrono::steady_clock;

constexpr std::uint32_t kMostIdBytes = 64;

struct Plan {
  std::uint64_t puts, bytes, between;
  std::chrono::milliseconds pause;
  std::uint32_t id_bytes;  // 0: words
  long most_growth_kb;
  int fifo = -1;  // pauses end by it; -1: by the clock
};

[[noreturn]] void die(const char* what, std::uint64_t number) {
  std::printf("put %llu: %s\n", static_cast<unsigned long long>(number), what);
  std::fflush(stdout);
  std::_Exit(1);
}

void require(int status, const char* what) {
  if (status != PHOTON_OK) die(what, 0);
}

// Its bytes are at an address that is used again for the next.
photon_cid id_of(std::uint64_t value, const Plan& plan) {
  static std::uint64_t bytes[kMostIdBytes / sizeof value];
  bytes[0] = value;
  photon_cid id{};
  id.size = plan.id_bytes;
  if (plan.id_bytes == 0)
    id.u64 = value;
  else
    id.data = bytes;
  return id;
}

std::uint64_t value_of(const photon_cid& id) {
  if (id.size == 0) return id.u64;
  std::uint64_t value = 0;
  std::memcpy(&value, id.data, sizeof value);
  return value;
}

template <class Miss>
void take(int kind, std::uint64_t expected, const Miss& missed) {
  photon_cid found{};
  for (int flag = 0;;) {
    require(
        photon_probe_completion(PHOTON_ANY_SOURCE, &flag, nullptr, &found, nullptr, nullptr, kind),
        "no probe");
    if (flag != 0) break;
    missed();
  }
  if (value_of(found) != expected) die("another id came", expected);
}

// By how much the process has grown since most of what it keeps was touched.
class Growth {
 public:
  Growth(const char* who, const Plan& plan) : who_(who), plan_(plan) {}
  void count(std::uint64_t puts) {
    if (puts != std::min(2 * plan_.between, plan_.puts / 2)) return;
    look();
    before_kb_ = largest_kb_;
  }
  void look() { largest_kb_ = std::max(largest_kb_, resident_kb()); }
  void end() {
    look();
    const long growth_kb = largest_kb_ - before_kb_;
    std::printf("%s: at most %ld KB, %ld KB of them since the third pause\n", who_, largest_kb_,
                growth_kb);
    if (growth_kb > plan_.most_growth_kb) die("memory has grown by more than it may", plan_.puts);
  }

 private:
  // Of memory that the process has written. Pages of program files come when code runs first, and
  // the kernel takes them back when it likes.
  static long resident_kb() {
    std::ifstream mappings("/proc/self/smaps");
    long sum_kb = 0;
    bool is_seen = false;
    bool is_file = false;
    for (std::string line; std::getline(mappings, line);) {
      if (line.find('-') < line.find(' ')) {  // "begin-end ..."
        const auto path = line.find('/');
        is_file = path != std::string::npos && line.compare(path, 7, "/memfd:") != 0;
      }
      if (line.rfind("Rss:", 0) != 0) continue;
      is_seen = true;
      if (!is_file) sum_kb += std::strtol(line.c_str() + 4, nullptr, 10);
    }
    if (!is_seen) die("the resident size is not known", 0);
    return sum_kb;
  }
  const char* const who_;
  const Plan& plan_;
  long largest_kb_ = 0;
  long before_kb_ = 0;
};

// The source is held back, and wakes who pauses, each time that so many looks in a row have found
// no local id for so long: all has been done by then that can be done without the target.
constexpr int kHeldBackLooks = 500;
constexpr auto kHeldBackTime = std::chrono::milliseconds(2);

void say_held_back(const Plan& plan) {
  if (plan.fifo < 0 || ::write(plan.fifo, "", 1) == 1 || errno == EAGAIN) return;
  die("the FIFO takes nothing", 0);
}

void put_all(const Plan& plan, photon_buffer_t there) {
  std::vector<unsigned char> source(plan.bytes);
  photon_buffer_t here{reinterpret_cast<std::uintptr_t>(source.data()), plan.bytes, {0, 0}};
  const auto began = Clock::now();
  Growth growth("source", plan);
  for (std::uint64_t i = 0; i < plan.puts; ++i) {
    growth.count(i);
    std::memcpy(source.data(), &i, std::min<std::uint64_t>(plan.bytes, sizeof i));
    const photon_cid id = id_of(i, plan);
    const int status = photon_put_with_completion(1, plan.bytes, &here, &there, id, id, 0);
    if (status != PHOTON_OK) die(("status " + std::to_string(status)).c_str(), i);
    int looks = 0;
    Clock::time_point since{};
    take(PHOTON_PROBE_EVQ, i, [&] {
      if (looks++ == 0) since = Clock::now();
      if (looks < kHeldBackLooks || Clock::now() - since < kHeldBackTime) return;
      growth.look();
      say_held_back(plan);
      looks = 0;
    });
  }
  if (plan.fifo >= 0) ::close(plan.fifo);  // no pause lasts any more
  std::printf("%llu puts of %llu bytes in %.1f s\n", static_cast<unsigned long long>(plan.puts),
              static_cast<unsigned long long>(plan.bytes),
              std::chrono::duration<double>(Clock::now() - began).count());
  growth.end();
}

// It computes; until it hears anew that the other one is held back, or nothing comes any more. The
// first word may have been due before the pause began: looks of our pause precede the second.
void pause(const Plan& plan) {
  if (plan.fifo < 0) return std::this_thread::sleep_for(plan.pause);
  char words[256];
  int old_bytes = 0;
  if (::ioctl(plan.fifo, FIONREAD, &old_bytes) != 0) die("the FIFO cannot be looked at", 0);
  for (ssize_t got = 1; old_bytes > 0 && got > 0; old_bytes -= static_cast<int>(got))
    got = ::read(plan.fifo, words, std::min<std::size_t>(old_bytes, sizeof words));
  for (int word = 0; word < 2; ++word)
    if (::read(plan.fifo, words, 1) < 0) die("the FIFO brings nothing", 0);
}

void open_fifo(Plan& plan, const char* path, bool reads) {
  plan.fifo = ::open(path, reads ? O_RDONLY : O_WRONLY);
  if (plan.fifo < 0 || (!reads && ::fcntl(plan.fifo, F_SETFL, O_NONBLOCK) != 0)) die("no FIFO", 0);
}

void take_all(const Plan& plan) {
  Growth growth("target", plan);
  for (std::uint64_t i = 0; i < plan.puts; ++i) {
    growth.count(i);
    if (i % plan.between == 0) {
      pause(plan);
      growth.look();
    }
    take(PHOTON_PROBE_LEDGER, i, [] {});
  }
  growth.end();
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 5) return 2;
  Plan plan{std::strtoull(argv[1], nullptr, 10),
            std::strtoull(argv[2], nullptr, 10),
            std::strtoull(argv[3], nullptr, 10),
            std::chrono::milliseconds(std::atoi(argv[4])),
            argc > 5 ? static_cast<std::uint32_t>(std::atoi(argv[5])) : 0,
            argc > 6 ? std::atol(argv[6]) : LONG_MAX};
  if (plan.id_bytes != 0 && (plan.id_bytes < 8 || plan.id_bytes > kMostIdBytes)) return 2;
  photon_config_t config;
  std::memset(&config, 0, sizeof config);
  config.cap.max_cid_size = static_cast<int>(plan.id_bytes);
  require(photon_init(&config), "no init");
  if (argv[4][0] == '/') open_fifo(plan, argv[4], config.address == 1);
  std::vector<unsigned char> memory(plan.bytes);
  photon_rid rid = 0;
  photon_buffer_t there{};
  if (config.address == 1) {
    require(photon_register_buffer(memory.data(), plan.bytes), "no registration");
    require(photon_post_recv_buffer_rdma(0, memory.data(), plan.bytes, 1, &rid), "no buffer");
    take_all(plan);
  } else {
    require(photon_wait_recv_buffer_rdma(1, PHOTON_ANY_SIZE, 1, &rid), "nothing met");
    require(photon_get_buffer_remote(rid, &there), "no target");
    put_all(plan, there);
    require(photon_send_FIN(rid, 1, 0), "no FIN");
  }
  return photon_finalize();
}
