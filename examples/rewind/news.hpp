// All ranks of rewind know this: the addresses of their mailboxes, and what they tell each other.
#pragma once

#include <photon/photon.h>

#include <array>
#include <cstdint>
#include <stdexcept>
#include <string>

namespace rewind_example {

// Addresses: a part's number is added to the last two.
inline constexpr std::uint64_t kNews = 1;         // of each rank
inline constexpr std::uint64_t kHalos = 1 << 16;  // of the rank that has the part
inline constexpr std::uint64_t kSaved = 2 << 16;  // of the spare: the part's states

struct Options {
  std::uint32_t parts = 0;
  std::uint64_t steps = 200;
  std::uint64_t cells = 512;  // of a part
  std::int64_t killed = -1;   // the part whose rank dies; none
  std::uint64_t at = 1;       // in this step
  std::uint64_t point = 0;    // behind so many of: a halo, a halo, the saved state
  std::string output;         // a file for the last state

  // Parts of one ring are at most half of it apart, and each saves two states at a time.
  std::size_t kept() const { return parts / 2 + 4; }
};

// Where messages go, and the life of the mailbox that they mean.
struct Place {
  ph_rank rank = 0;
  std::uint32_t incarnation = 0;
};

struct News {
  enum Kind : std::uint64_t {
    ready,   // to the spare: the halos' mailbox of `part` is `place`
    rewind,  // from the spare: `step` is the last one again
    go,      // from the spare: all are ready, and here are the neighbours
    done,    // from the spare: all steps are saved
    failed   // from the spare: a second rank was lost
  };
  Kind kind = ready;
  std::uint64_t part = 0;
  std::uint64_t step = 0;
  std::uint64_t refused = 0;  // messages of `part` that were of the lost past
  Place place, left, right;   // mailboxes for halos
  std::uint32_t saved = 0;    // incarnation of the part's mailbox at the spare
  std::uint32_t reserved = 0;
};

inline void check(ph_status status, const char* what) {
  if (status < PH_OK) throw std::runtime_error(std::string(what) + ": " + ph_status_text(status));
}

// A call that is told to come again makes progress meanwhile. All messages here have requests, so
// there are no other completions.
template <class Call>
ph_status insist(ph_context* context, Call call) {
  for (;;) {
    const ph_status status = call();
    if (status != PH_AGAIN) return status;
    ph_completion done;
    std::size_t count = 0;
    check(ph_probe(context, {PH_ANY_RANK, PH_EITHER, nullptr}, &done, 1, &count), "probe");
  }
}

// The verdict of a message, or of a get, that was sent; PH_OK also if there is none.
inline ph_status verdict_of(ph_context* context, ph_request& request) {
  if (request == PH_REQUEST_NONE) return PH_OK;
  ph_result result;
  return ph_wait_request(context, &request, &result, PH_FOREVER);
}

inline bool is_lost(ph_context* context, ph_rank rank) {
  ph_contact_state state = PH_PEER_UNKNOWN;
  check(ph_peer_state(context, rank, &state), "the state of a peer");
  return state >= PH_PEER_DEPARTED;
}

// Waits until it has landed. A rank that is lost hears no news.
inline void tell(ph_context* context, ph_rank rank, const News& news) {
  ph_request request = PH_REQUEST_NONE;
  ph_mailbox_put_args args{};
  args.size = sizeof args;
  args.address = kNews;
  args.source = &news;
  args.size_bytes = sizeof news;
  args.epoch = PH_ANY_EPOCH;
  args.request = &request;
  ph_status status = insist(context, [&] { return ph_mailbox_put(context, rank, &args); });
  if (status == PH_OK) status = verdict_of(context, request);
  if (status < PH_OK && !is_lost(context, rank)) check(status, "telling news");
}

// News have a buffer each.
class Inbox {
 public:
  explicit Inbox(ph_context* context) : context_(context) {
    ph_mailbox_args args{};
    args.size = sizeof args;
    args.address = kNews;
    args.threshold = 1;
    args.unit = PH_MAILBOX_OPERATIONS;
    args.source = PH_ANY_RANK;
    check(ph_mailbox_open(context_, &args, &box_), "opening a mailbox");
    for (News& one : buffers_) post(&one);
  }
  ~Inbox() { static_cast<void>(ph_mailbox_close(context_, box_)); }  // its messages are carried
  Inbox(const Inbox&) = delete;
  Inbox& operator=(const Inbox&) = delete;

  News take(const ph_mailbox_event& event) {
    const News news = *static_cast<const News*>(event.data);
    post(event.data);
    return news;
  }

 private:
  void post(void* data) {
    ph_mailbox_buffer buffer{};
    buffer.size = sizeof buffer;
    buffer.data = data;
    buffer.size_bytes = sizeof(News);
    check(ph_mailbox_post(context_, box_, &buffer), "posting a buffer");
  }

  ph_context* const context_;
  ph_mailbox box_{};
  std::array<News, 16> buffers_{};
};

}  // namespace rewind_example
