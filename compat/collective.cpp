#include "compat/collective.hpp"

#include <cstdio>
#include <cstring>
#include <new>
#include <utility>

#include "compat/warn.hpp"

namespace photon::classic {

namespace {

constexpr std::size_t kWordsBytes = 160;

// The finaliser of splitmix64: a bijection, so equal names stay the only ones that are equal.
std::uint64_t mixed(std::uint64_t value) noexcept {
  value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9U;
  value = (value ^ (value >> 27)) * 0x94d049bb133111ebU;
  return value ^ (value >> 31);
}

bool is_not_yet(ph_status status) noexcept { return status == PH_AGAIN || status == PH_TIMEOUT; }

// After a call on the peer failed with `status`: nothing goes to it and nothing comes from it any
// more. Without memory that is so only if it cost us the peer; else the call may be made again.
bool is_cut_off(ph_context* lane, ph_rank peer, ph_status status) noexcept {
  if (status != PH_ERR_MEMORY) return true;
  ph_path path{};
  path.size = sizeof path;
  return ph_path_to(lane, peer, &path) == PH_OK && std::strcmp(path.state, "dead") == 0;
}

}  // namespace

bool Collective::is_barrier() const noexcept {
  return plan_.kind == PHOTON_COLL_BARRIER || plan_.kind == PHOTON_COLL_IBARRIER;
}

bool Collective::yields() const noexcept {
  return !is_barrier() && (plan_.kind != PHOTON_COLL_REDUCE || plan_.is_root);
}

void Collective::begin(const Work& work) {
  sending_.reserve(plan_.steps.size());
  work_ = work;
  const std::size_t size_bytes = work.count * work.element_bytes;
  try {
    result_.resize(size_bytes);
    if (size_bytes != 0) std::memcpy(result_.data(), work.in, size_bytes);
  } catch (const std::bad_alloc&) {
    fail(PH_ERR_MEMORY, PH_ANY_RANK, "no memory for the elements");
  }
  begun_.set(this);
}

bool Collective::advance(ph_context* lane, std::int64_t timeout_us) {
  if (is_over()) return true;
  lane_ = lane;
  timeout_us_ = timeout_us;
  for (; next_ < plan_.steps.size(); ++next_) {
    const Step& step = plan_.steps[next_];
    if (!(step.kind == Step::Kind::send ? send(step) : receive(step))) return false;
    stage_ = Stage::look;
  }
  if (!settle()) return false;
  conclude();
  return true;
}

void Collective::conclude() {
  if (!has_failed() && yields() && !result_.empty())
    std::memcpy(work_.out, result_.data(), result_.size());
  result_ = {};
  over_.set(this);
}

void Collective::tell(std::list<Told>& list) noexcept {
  if (tells()) plan_.told.front().status = status_;
  list.splice(list.end(), plan_.told);
}

std::uint64_t Collective::tag_of(const Step& step) const noexcept {
  const std::uint64_t tag = mixed(plan_.name + step.phase);
  return tag == PH_ANY_TAG ? 0 : tag;
}

// True when it is announced, or there is nobody to announce it to. What cannot be sent is replaced
// by word of that, which needs neither memory nor a region: the peer waits for one of them.
bool Collective::send(const Step& step) {
  for (;;) {
    const bool is_word = has_failed();
    const ph_status status = announce(step);
    if (status == PH_AGAIN) return false;
    if (status == PH_OK) return true;
    fail(status, step.peer, "cannot send to it");
    if (is_word) return is_cut_off(lane_, step.peer, status);
  }
}

// The elements, or word that there are none: its size says why.
ph_status Collective::announce(const Step& step) {
  ph_request request = PH_REQUEST_NONE;
  ph_announce_args args{};
  args.size = sizeof args;
  args.kind = has_failed() ? PH_SEND_REQUEST : PH_SEND_BUFFER;
  args.tag = tag_of(step);
  args.buffer = has_failed() ? nullptr : result_.data();
  args.size_bytes = has_failed() ? -static_cast<std::int64_t>(status_) : result_.size();
  args.request = &request;
  const ph_status status = ph_announce(lane_, step.peer, &args);
  if (request != PH_REQUEST_NONE) sending_.push_back(request);
  return status;
}

// True when what comes has come, or nothing will.
bool Collective::receive(const Step& step) {
  if (stage_ == Stage::look && !(settle() && look(step))) return false;
  if (stage_ == Stage::read && !read()) return false;
  if (stage_ == Stage::reading && !await_read()) return false;
  return stage_ != Stage::finish || finish(step);
}

// Afterwards the stage is `read` if there is a message. Without memory to look for it the
// collective has failed, but the message is still to come, and its sender waits for its FIN.
bool Collective::look(const Step& step) {
  ph_match match{PH_SEND_BUFFER, step.peer, tag_of(step), PH_ANY_SIZE};
  ph_status status = timeout_us_ == 0 ? ph_test_buffer(lane_, &match, &buffer_)
                                      : ph_wait_buffer(lane_, &match, &buffer_, timeout_us_);
  timeout_us_ = 0;
  if (status == PH_OK) {
    stage_ = Stage::read;
    return true;
  }
  if (!is_not_yet(status)) {
    const bool is_end = is_cut_off(lane_, step.peer, status);
    fail(status, step.peer, is_end ? "nothing comes from it any more" : "cannot look for its part");
    return is_end;
  }
  match.kind = PH_SEND_REQUEST;
  status = ph_test_buffer(lane_, &match, &buffer_);
  if (status == PH_OK) hear(step.peer, buffer_.size_bytes);
  return status == PH_OK;
}

// Word of a failure, which goes on with its cause: the first rank that met it knows more.
void Collective::hear(ph_rank peer, std::uint64_t word) noexcept {
  constexpr std::uint64_t kLast = -static_cast<std::int64_t>(PH_ERR_NOT_FOUND);
  const auto cause =
      word >= 1 && word <= kLast ? static_cast<ph_status>(-static_cast<int>(word)) : PH_ERR_PEER;
  fail(cause, peer,
       cause == PH_ERR_ARGUMENT
           ? "it says that ranks have joined with different counts or datatypes"
           : "it says that the collective has failed");
}

// Small messages came along; others are read from their sender.
bool Collective::read() {
  stage_ = Stage::finish;
  if (!has_failed() && buffer_.size_bytes != result_.size())
    fail(PH_ERR_ARGUMENT, buffer_.rank, "it has joined with another count or datatype");
  if (has_failed() || result_.empty()) return true;
  if (buffer_.data != nullptr) {
    std::memcpy(result_.data(), buffer_.data, result_.size());
    return true;
  }
  ph_get_args args{};
  args.size = sizeof args;
  args.destination = result_.data();
  args.size_bytes = result_.size();
  args.flags = PH_NO_RCE;
  args.request = &reading_;
  const ph_status status = ph_get_buffer(lane_, &buffer_, 0, &args);
  if (status == PH_AGAIN) {
    stage_ = Stage::read;
    return false;
  }
  if (status != PH_OK) fail(status, buffer_.rank, "cannot read from it");
  if (reading_ != PH_REQUEST_NONE) stage_ = Stage::reading;
  return true;
}

bool Collective::await_read() {
  if (!is_done(reading_)) return false;
  stage_ = Stage::finish;
  return true;
}

bool Collective::finish(const Step& step) {
  const ph_status status = ph_finish(lane_, &buffer_);
  if (status == PH_AGAIN || status == PH_ERR_MEMORY) return false;
  // That its owner is gone is his affair: we have what he sent.
  if (step.kind == Step::Kind::fold && !has_failed() && !result_.empty())
    work_.fold(result_.data(), work_.in, work_.count);
  return true;
}

// True when nobody reads the result any more.
bool Collective::settle() {
  while (!sending_.empty()) {
    if (!is_done(sending_.back())) return false;
    sending_.pop_back();
  }
  return true;
}

bool Collective::is_done(ph_request& request) {
  ph_result result{};
  result.peer = PH_ANY_RANK;
  const ph_status status = timeout_us_ == 0
                               ? ph_test(lane_, &request, &result)
                               : ph_wait_request(lane_, &request, &result, timeout_us_);
  if (is_not_yet(status)) {
    timeout_us_ = 0;
    return false;
  }
  const bool is_over = request == PH_REQUEST_NONE;
  if (status == PH_ERR_MEMORY && !is_over) {  // to look; it goes on
    fail(status, result.peer, "cannot look after a transfer");
    return false;
  }
  request = PH_REQUEST_NONE;  // a context that was finalized leaves it
  if (status != PH_OK) fail(status, result.peer, "a transfer with it has failed");
  return true;
}

void Collective::fail(ph_status status, ph_rank peer, const char* why) noexcept {
  if (has_failed()) return;
  status_ = status;
  char words[kWordsBytes];
  if (peer == PH_ANY_RANK)
    std::snprintf(words, sizeof words, "%s (%s)", why, ph_status_text(status));
  else
    std::snprintf(words, sizeof words, "rank %u: %s (%s)", peer, why, ph_status_text(status));
  warn("photon_collective_join", words);
}

}  // namespace photon::classic
