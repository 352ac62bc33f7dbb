// A job of four in which ranks send to a mailbox of another one, and processes are killed or
// stopped in the middle of it:
//
//   mailers killed     rank 1 sends until it is killed: of what it sent a part from the beginning
//                      on has come, and all of ranks 2 and 3
//   mailers stopped    rank 1 is stopped in the middle: all of ranks 2 and 3 comes meanwhile, and
//                      all of rank 1 when it goes on
//   mailers receiver   rank 1, which has the mailbox, is killed: each request for it ends with
//                      PH_ERR_PEER
//   mailers aborted    the same, but that it is stopped first, and all messages are called back
//   mailers closed     rank 1 closes the lane of its mailbox: what waits there is refused with
//                      PH_ERR_DEPARTED, what has landed is confirmed
//
// Every message is counted once, whole and in order, and what was handed over changes no more.
// The setting PHOTON_TRANSPORT says over what. Exit status 0: so it was.
#include <photon/photon.h>
#include <signal.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <array>
#include <cstring>
#include <fstream>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "rank_calls.hpp"

namespace photon::test {
namespace {

constexpr std::uint32_t kRanks = 4;
constexpr std::uint64_t kAddress = 99;
constexpr std::size_t kBufferBytes = 64 << 10;
constexpr std::size_t kBuffers = 12;
constexpr std::size_t kPosted = 4;  // at a time; the others are looked at once more before they are
constexpr std::uint32_t kMails = 300;
constexpr std::uint32_t kForEver = 0xffff'ffff;
constexpr std::uint32_t kLane = 5;

struct Head {
  std::uint32_t from = 0;
  std::uint32_t number = 0;
  std::uint64_t size_bytes = 0;
};

// In the line of a record, behind it, and as a body.
std::uint64_t size_of(std::uint32_t number) {
  constexpr std::array<std::uint64_t, 8> kSizes = {16, 24, 32, 40, 500, 1040, 3000, 30'000};
  return kSizes[(number * 5 + number / 8) % kSizes.size()];
}

std::vector<unsigned char> mail_of(ph_rank from, std::uint32_t number) {
  std::vector<unsigned char> bytes(size_of(number));
  for (std::size_t i = 0; i < bytes.size(); ++i)
    bytes[i] = static_cast<unsigned char>(from * 89 + number * 31 + i * 7 + (i >> 8));
  const Head head{from, number, bytes.size()};
  std::memcpy(bytes.data(), &head, sizeof head);
  return bytes;
}

struct Job {
  explicit Job(const ph_bootstrap& bootstrap) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);  // also of one that is stopped
    const ph_config config{sizeof config, &bootstrap, nullptr, 0};
    if (ph_context_create(&config, &context, nullptr) != PH_OK) std::_Exit(1);
    const pid_t mine = ::getpid();
    require(context, ph_allgather(context, &mine, pids.data(), sizeof mine), "allgather");
  }
  // 0: it ended as it should.
  int end() const {
    const ph_status status = ph_finalize(context);
    ph_context_destroy(context);
    return status == PH_OK || status == PH_ERR_PEER ? 0 : 1;
  }
  void kill(ph_rank rank, int signal) const {
    if (::kill(pids[rank], signal) != 0) fail(context, "kill", PH_ERR_SYSTEM);
  }

  ph_context* context = nullptr;
  std::array<pid_t, kRanks> pids{};
};

ph_mailbox open_mailbox(ph_context* context, ph_mailbox_placing placing) {
  ph_mailbox_args args{};
  args.size = sizeof args;
  args.address = kAddress;
  args.placing = placing;
  args.source = PH_ANY_RANK;
  ph_mailbox box{};
  require(context, ph_mailbox_open(context, &args, &box), "mailbox_open");
  return box;
}

// ---- senders

ph_status append(ph_context* context, ph_rank to, std::uint32_t number, ph_request* request) {
  const std::vector<unsigned char> bytes = mail_of(ph_rank_of(context), number);
  ph_mailbox_put_args args{};
  args.size = sizeof args;
  args.address = kAddress;
  args.source = bytes.data();
  args.size_bytes = bytes.size();
  args.epoch = PH_ANY_EPOCH;
  args.request = request;
  ph_status status = PH_AGAIN;
  while ((status = ph_mailbox_append(context, to, &args)) == PH_AGAIN) {
    ph_completion found{};
    std::size_t count = 0;
    require(context, ph_probe(context, {PH_ANY_RANK, PH_EITHER, nullptr}, &found, 1, &count),
            "probe");
    if (count == 1 && found.status != PH_OK) return static_cast<ph_status>(found.status);
  }
  if (status != PH_OK) return status;
  // The bytes are free when this says so.
  if (request == nullptr) return static_cast<ph_status>(next(context, to, PH_LOCAL).status);
  return PH_OK;
}

int send(const Job& job, std::uint32_t count) {
  require(job.context, ph_barrier(job.context), "barrier");  // the mailbox is open
  for (std::uint32_t number = 0; number < count; ++number) {
    const bool is_asking = number % 7 == 6 || number + 1 == count;
    ph_request request = PH_REQUEST_NONE;
    require(job.context, append(job.context, 0, number, is_asking ? &request : nullptr), "append");
    if (is_asking)
      require(job.context, ph_wait_request(job.context, &request, nullptr, kLongUs), "a verdict");
  }
  return job.end();
}

// ---- the receiver
class Receiver {
 public:
  explicit Receiver(const Job& job)
      : context_(job.context), box_(open_mailbox(context_, PH_MAILBOX_MANAGED)) {
    for (std::size_t i = 0; i < kPosted; ++i) post(i);
    for (std::size_t i = kPosted; i < kBuffers; ++i) spare_.push_back(i);
    require(context_, ph_barrier(context_), "barrier");
  }

  // Takes what has come, or hands over what is there when nothing more does.
  void turn() {
    ph_mailbox_event event{};
    ph_status status = ph_mailbox_wait(context_, box_, &event, 200);
    if (status == PH_TIMEOUT) {
      require(context_, ph_mailbox_inc_epoch(context_, box_), "inc_epoch");
      status = ph_mailbox_take(context_, box_, &event);
    }
    require(context_, status, "mailbox_wait");
    ++events_;
    take(event);
  }
  std::uint32_t came(ph_rank rank) const { return came_[rank]; }
  std::uint32_t events() const { return events_; }
  void check_all() {
    for (const std::size_t i : spare_) check(i);
  }

 private:
  struct Buffer {
    std::vector<unsigned char> bytes = std::vector<unsigned char>(kBufferBytes);
    std::vector<unsigned char> seen;  // when it was handed over
  };

  void post(std::size_t index) {
    Buffer& buffer = buffers_[index];
    const ph_mailbox_buffer args{sizeof args, buffer.bytes.data(), kBufferBytes, 0, nullptr, index};
    require(context_, ph_mailbox_post(context_, box_, &args), "mailbox_post");
  }
  void check(std::size_t index) {
    const Buffer& buffer = buffers_[index];
    if (!buffer.seen.empty() && buffer.bytes != buffer.seen)
      fail(context_, "a buffer was written after it was handed over", PH_ERR_STATE);
  }
  void take(const ph_mailbox_event& event) {
    Buffer& buffer = buffers_[event.cookie];
    std::uint64_t at = 0, count = 0;
    for (; at < event.size_bytes; ++count) at += take_one(buffer.bytes.data() + at);
    if (at != event.bytes || at != event.size_bytes || count != event.operations)
      fail(context_, "an event counts what is not there", PH_ERR_STATE);
    if (event.epoch != epoch_++) fail(context_, "an epoch out of order", PH_ERR_STATE);
    buffer.seen = buffer.bytes;
    spare_.push_back(event.cookie);
    const std::size_t oldest = spare_.front();
    spare_.erase(spare_.begin());
    check(oldest);
    post(oldest);
  }
  std::uint64_t take_one(const unsigned char* bytes) {
    Head head{};
    std::memcpy(&head, bytes, sizeof head);
    if (head.from == 0 || head.from >= kRanks || head.number != came_[head.from])
      fail(context_, "a message is lost, doubled or out of order", PH_ERR_STATE);
    const std::vector<unsigned char> right = mail_of(head.from, head.number);
    if (std::memcmp(bytes, right.data(), right.size()) != 0)
      fail(context_, "a message is damaged", PH_ERR_STATE);
    ++came_[head.from];
    return right.size();
  }

  ph_context* const context_;
  const ph_mailbox box_;
  std::array<Buffer, kBuffers> buffers_;
  std::vector<std::size_t> spare_;  // oldest first
  std::array<std::uint32_t, kRanks> came_{};
  std::uint64_t epoch_ = 0;
  std::uint32_t events_ = 0;
};

// At another moment in each run.
std::uint32_t some_events() { return std::random_device()() % 12; }

void await_dead(const Job& job, ph_rank rank, Receiver& receiver) {
  ph_contact_state state = PH_PEER_UNKNOWN;
  while (state != PH_PEER_DEAD) {
    receiver.turn();
    require(job.context, ph_peer_state(job.context, rank, &state), "peer_state");
  }
}

int receive_of_killed(const Job& job) {
  Receiver receiver(job);
  const std::uint32_t until = some_events();
  while (receiver.events() < until || receiver.came(1) == 0) receiver.turn();
  job.kill(1, SIGKILL);
  await_dead(job, 1, receiver);
  const std::uint32_t before = receiver.events();
  while (receiver.came(2) < kMails || receiver.came(3) < kMails) receiver.turn();
  // The last of it was handed over with the first event since then.
  if (receiver.events() == before) receiver.turn();
  receiver.check_all();
  return job.end();
}

void stop(const Job& job, ph_rank rank) {
  job.kill(rank, SIGSTOP);
  const std::string path = "/proc/" + std::to_string(job.pids[rank]) + "/stat";
  for (std::string line; line.find(") T ") == std::string::npos;) {
    std::ifstream file(path);
    if (!std::getline(file, line)) fail(job.context, "the stopped rank is gone", PH_ERR_STATE);
  }
}

int receive_of_stopped(const Job& job) {
  Receiver receiver(job);
  const std::uint32_t until = some_events();
  while (receiver.events() < until || receiver.came(1) == 0) receiver.turn();
  stop(job, 1);
  while (receiver.came(2) < kMails || receiver.came(3) < kMails) receiver.turn();
  job.kill(1, SIGCONT);
  while (receiver.came(1) < kMails) receiver.turn();
  receiver.check_all();
  return job.end();
}

// ---- a receiver that dies, or closes its lane

// One buffer for the first messages: the others wait.
void serve_a_little(ph_context* context, std::span<std::byte> memory) {
  const ph_mailbox box = open_mailbox(context, PH_MAILBOX_MANAGED);
  const ph_mailbox_buffer buffer{sizeof buffer, memory.data(), memory.size(), 0, nullptr, 0};
  require(context, ph_mailbox_post(context, box, &buffer), "mailbox_post");
}

int be_killed_receiving(const Job& job) {
  std::vector<std::byte> memory(100);
  serve_a_little(job.context, memory);
  for (ph_rank rank = 0; rank < kRanks; ++rank)
    if (rank != 1) require(job.context, ph_notify(job.context, rank, 1), "notify");
  static_cast<void>(ph_wait(job.context, {1, PH_REMOTE, nullptr}, PH_FOREVER));
  return 1;
}

// The status of each request, in order, of messages to rank 1.
std::vector<ph_status> ask(ph_context* context, std::size_t count,
                           const std::function<void(std::span<ph_request>)>& then) {
  std::vector<ph_request> requests(count, PH_REQUEST_NONE);
  for (std::uint32_t number = 0; number < count; ++number)
    require(context, append(context, 1, number, &requests[number]), "append");
  then(requests);
  std::vector<ph_status> all;
  for (ph_request& request : requests) {
    ph_result result{};
    const ph_status status = ph_wait_request(context, &request, &result, kLongUs);
    if (status != result.status) fail(context, "the request of a message", status);
    all.push_back(status);
  }
  return all;
}

void call_back(ph_context* context, std::span<ph_request> requests) {
  ph_outcome outcome{};
  for (ph_request& request : requests)
    require(context, ph_cancel(context, &request, &outcome), "cancel");
}

// Rank 0 kills it when all have sent, and called back.
int outlive_receiver(const Job& job, bool aborts) {
  constexpr std::size_t kCount = 20;
  ph_context* const context = job.context;
  const bool is_first = ph_rank_of(context) == 0;
  const auto meet = [&] {
    for (const ph_rank rank : is_first ? std::vector<ph_rank>{2, 3} : std::vector<ph_rank>{0}) {
      if (!is_first) require(context, ph_notify(context, rank, 2), "notify");
      next(context, rank, PH_REMOTE);
      if (is_first) require(context, ph_notify(context, rank, 2), "notify");
    }
  };
  next(context, 1, PH_REMOTE);
  const auto statuses = ask(context, kCount, [&](std::span<ph_request> requests) {
    meet();
    if (aborts) {
      if (is_first) stop(job, 1);
      meet();
      call_back(context, requests);
      meet();
    }
    if (is_first) job.kill(1, SIGKILL);
  });
  bool has_failed = false;
  for (const ph_status status : statuses) {
    if (status != PH_OK && status != PH_ERR_PEER) fail(context, "a verdict of the dead", status);
    has_failed = has_failed || status == PH_ERR_PEER;
  }
  // A hundred bytes are not enough for all.
  if (!has_failed) fail(context, "the dead has confirmed what waited there", PH_OK);
  const ph_status status = append(context, 1, 0, nullptr);
  if (status != PH_ERR_PEER) fail(context, "a message to the dead", status);
  return job.end();
}

// How many were refused because the lane was closed.
std::uint32_t expect_refusals(ph_context* lane, const std::vector<ph_status>& statuses) {
  std::uint32_t departed = 0, refused = 0;
  for (const ph_status status : statuses) {
    // What is larger than the buffer is refused while there is one.
    if (status != PH_OK && status != PH_ERR_RANGE && status != PH_ERR_DEPARTED &&
        status != PH_ERR_NOT_FOUND)
      fail(lane, "a verdict of a lane that was closed", status);
    if (status == PH_ERR_DEPARTED) ++departed;
    if (status == PH_ERR_DEPARTED || status == PH_ERR_NOT_FOUND) ++refused;
  }
  if (refused == 0) fail(lane, "a lane that was closed has refused nothing", PH_OK);
  return departed;
}

// When the first buffer is full, the message that did not fit waits.
int close_lane(const Job& job) {
  ph_context* lane = nullptr;
  require(job.context, ph_lane_open(job.context, kLane, &lane), "lane_open");
  std::vector<std::byte> memory(100);
  const bool is_receiver = ph_rank_of(job.context) == 1;
  if (is_receiver) serve_a_little(lane, memory);
  require(job.context, ph_barrier(job.context), "barrier");
  std::uint32_t departed = 0;
  if (is_receiver) {
    for (const ph_rank rank : {0u, 2u, 3u}) next(job.context, rank, PH_REMOTE);
    ph_mailbox_event event{};
    require(lane, ph_mailbox_wait(lane, {}, &event, kLongUs), "mailbox_wait");
  } else {
    departed = expect_refusals(lane, ask(lane, 20, [&](auto) {
                                 require(job.context, ph_notify(job.context, 1, 3), "notify");
                               }));
  }
  require(job.context, ph_lane_close(lane), "lane_close");
  std::array<std::uint32_t, kRanks> all{};
  require(job.context, ph_allgather(job.context, &departed, all.data(), sizeof departed),
          "allgather");
  if (all[0] + all[2] + all[3] == 0) fail(job.context, "nothing had waited there", PH_OK);
  return job.end();
}

int run(const std::string& how, const ph_bootstrap& bootstrap) {
  const Job job(bootstrap);
  const ph_rank rank = bootstrap.rank;
  if (how == "closed") return close_lane(job);
  if (how == "receiver") return rank == 1 ? be_killed_receiving(job) : outlive_receiver(job, false);
  if (how == "aborted") return rank == 1 ? be_killed_receiving(job) : outlive_receiver(job, true);
  if (rank == 0) return how == "killed" ? receive_of_killed(job) : receive_of_stopped(job);
  return send(job, rank == 1 && how == "killed" ? kForEver : kMails);
}

}  // namespace
}  // namespace photon::test

int main(int count, char** arguments) {
  const std::string how = count == 2 ? arguments[1] : "";
  const bool has_victim = how == "killed" || how == "receiver" || how == "aborted";
  if (!has_victim && how != "stopped" && how != "closed") return 2;
  for (int round = 0; round < 4; ++round)
    if (photon::test::run_ranks(photon::test::kRanks, {}, has_victim,
                                [&how](const ph_bootstrap& bootstrap) {
                                  return photon::test::run(how, bootstrap);
                                }) != 0)
      return 1;
  return 0;
}
