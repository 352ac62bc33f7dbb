#include "transport/tcp/tcp_outlet.hpp"

#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <new>
#include <utility>

#include <photon/memory.h>

#include "base/readable.hpp"
#include "transport/access.hpp"

namespace photon::transport::tcp {

namespace {

bool is_readable(const iovec& part) noexcept {
  return base::is_readable({static_cast<const std::byte*>(part.iov_base), part.iov_len});
}

base::Error no_memory() {
  return {PH_ERR_MEMORY, 0, "no memory to keep the rest of a get that is served"};
}

}  // namespace

bool Outlet::is_idle(network::RingOverNetwork& link) noexcept {
  return has_no_record(link) && !link.owes_credits();
}

Outlet::Flushed Outlet::flush(int socket, network::RingOverNetwork& link,
                              std::span<const RegionEntry> regions, Scratch scratch) {
  for (;;) {
    if (!has_batch()) build(link, regions);
    if (!has_batch()) return Flushed::all;
    const ssize_t sent = push(socket, scratch);
    if (sent >= 0) {
      advance(static_cast<std::size_t>(sent));
      continue;
    }
    if (errno == EINTR) continue;
    // No memory for the socket's buffer now: later.
    if (errno == EAGAIN || errno == EWOULDBLOCK || errno == ENOBUFS || errno == ENOMEM)
      return Flushed::blocked;
    if (errno == EFAULT && spoil()) continue;
    return Flushed::broken;
  }
}

// Some payload cannot be read. Its length was promised, and what follows has to stay in step: zeros
// go in its place, and its end says so. False: all of it can be read now, or there is no memory.
bool Outlet::spoil() noexcept {
  for (std::size_t i = 0; i < starts_count_; ++i) {
    const FrameKind kind = starts_[i].head.kind;
    const std::size_t at = payload_parts_[i];
    if ((kind != FrameKind::write && kind != FrameKind::data) || at < next_) continue;
    if (!is_readable(parts_[at])) return fill_up(i);
  }
  return false;
}

// With zeros, the payload of the item that starts so. False: there is no memory for them.
bool Outlet::fill_up(std::size_t start) noexcept {
  const std::size_t at = payload_parts_[start];
  iovec& part = parts_[at];
  std::unique_ptr<std::byte[]> zeros(new (std::nothrow) std::byte[part.iov_len]());
  if (zeros == nullptr) return false;
  try {
    saved_.push_back(nullptr);
  } catch (const std::bad_alloc&) {
    return false;
  }
  part.iov_base = zeros.get();
  saved_.back() = std::move(zeros);
  for (Served& one : served_)
    if (one.part == at) one.body.size_bytes = 0;  // ours now
  const bool is_write = starts_[start].head.kind == FrameKind::write;
  starts_[start + 1].head.code = code_of(is_write ? PH_ERR_ARGUMENT : PH_ERR_ACCESS);
  return true;
}

bool Outlet::still_sends(std::uint64_t token) const noexcept {
  for (std::size_t i = 0; i < starts_count_ && has_batch(); ++i)
    if (starts_[i].head.kind == FrameKind::write && starts_[i].head.token == token &&
        payload_parts_[i] >= next_)
      return true;
  for (auto at = items_.begin(); at != items_.end(); ++at)
    if (items_.at(at).head.kind == FrameKind::write && items_.at(at).head.token == token)
      return true;
  return false;
}

ssize_t Outlet::push(int socket, Scratch scratch) noexcept {
  constexpr int kFlags = MSG_DONTWAIT | MSG_NOSIGNAL;
  msghdr message{};
  message.msg_iov = parts_.data() + next_;
  message.msg_iovlen = parts_count_ - next_;
  std::array<iovec, kMostParts> parts;
  std::size_t count = 0;
  if (bytes_left_ <= scratch.size()) {
    count = gather(scratch, parts);
    if (count == 1) return ::send(socket, parts[0].iov_base, parts[0].iov_len, kFlags);
  } else if (is_cut_) {
    count = without_tail(parts);
  }
  if (count != 0) {
    message.msg_iov = parts.data();
    message.msg_iovlen = count;
  }
  return ::sendmsg(socket, &message, kFlags);
}

// What is ours is put together; payload stays where it lies. How many parts that makes.
std::size_t Outlet::gather(Scratch scratch, std::span<iovec, kMostParts> parts) const noexcept {
  std::byte* at = scratch.data();
  std::size_t count = 0;
  bool is_ours = false;
  for (std::size_t i = next_; i < parts_count_; ++i) {
    const iovec& part = parts_[i];
    if ((payloads_ >> i & 1) != 0) {
      parts[count++] = part;
      is_ours = false;
      continue;
    }
    if (part.iov_len == sizeof(FrameHead))
      std::memcpy(at, part.iov_base, sizeof(FrameHead));
    else
      std::memcpy(at, part.iov_base, part.iov_len);
    if (!std::exchange(is_ours, true)) parts[count++] = {at, 0};
    parts[count - 1].iov_len += part.iov_len;
    at += part.iov_len;
  }
  return count;
}

// How many parts what stands before the tail has; none: all but that is sent.
std::size_t Outlet::without_tail(std::span<iovec, kMostParts> parts) const noexcept {
  if (bytes_left_ <= kTailBytes) return 0;
  std::size_t bytes = bytes_left_ - kTailBytes;
  std::size_t count = 0;
  for (std::size_t i = next_; bytes != 0; ++i) {
    iovec& part = parts[count++] = parts_[i];
    part.iov_len = std::min(part.iov_len, bytes);
    bytes -= part.iov_len;
  }
  return count;
}

void Outlet::advance(std::size_t bytes) noexcept {
  bytes_left_ -= bytes;
  if (bytes_left_ == 0) {
    next_ = parts_count_;
    return;
  }
  while (bytes >= parts_[next_].iov_len) bytes -= parts_[next_++].iov_len;
  iovec& part = parts_[next_];
  part.iov_base = static_cast<std::byte*>(part.iov_base) + bytes;
  part.iov_len -= bytes;
}

void Outlet::add_start(const FrameHead& head) noexcept {
  Start& start = starts_[starts_count_++];
  start.head = head;
  add_part(&start.head, sizeof start.head);
}

void Outlet::add_part(const void* bytes, std::size_t size_bytes) noexcept {
  if (size_bytes == 0) return;
  parts_[parts_count_++] = {const_cast<void*>(bytes), size_bytes};
  bytes_left_ += size_bytes;
}

void Outlet::build(network::RingOverNetwork& link, std::span<const RegionEntry> regions) {
  parts_count_ = next_ = starts_count_ = 0;
  is_cut_ = false;
  payloads_ = 0;
  served_.clear();
  saved_.clear();
  // While lines wait no item may go: see above.
  if (!add_runs(link)) return;
  add_credits(link);
  if (items_.empty()) return;
  for (; !items_.empty() && has_space(); items_.pop()) {
    Item& item = items_.front();
    refuse_if_revoked(item, regions);
    // Our rank may have published, and then revoked, since we looked at the ring.
    if (item.head.kind == FrameKind::done && !add_runs(link)) return;
    add_item(item);
  }
  items_.trim();
}

// False: lines are left, or there is no space for more.
bool Outlet::add_runs(network::RingOverNetwork& link) {
  while (link.has_run()) {
    if (!has_space()) return false;
    const network::RingOverNetwork::Run run = link.next_run();
    FrameHead head;
    head.kind = FrameKind::lines;
    head.lines = static_cast<std::uint16_t>(run.lines_count);
    head.bytes = static_cast<std::uint32_t>(run.bulk.size());
    add_start(head);
    add_part(run.bulk.data(), run.bulk.size());
    for (const auto& lines : run.lines) add_part(lines.data(), lines.size());
  }
  return has_space();
}

void Outlet::add_credits(network::RingOverNetwork& link) noexcept {
  const auto changed = link.changed_credits();
  if (!changed) return;
  credits_ = *changed;
  add_start({.kind = FrameKind::credits});
  add_part(&credits_, sizeof credits_);
}

// The key of what is served is looked at once more: what was asked for may have been taken back.
void Outlet::refuse_if_revoked(Item& item, std::span<const RegionEntry> regions) noexcept {
  if (item.head.kind != FrameKind::data) return;
  const ph_status status = check_access(regions, {item.body.address, item.body.key},
                                        item.body.size_bytes, PH_ACCESS_READ);
  if (status == PH_OK) return;
  item.head.kind = FrameKind::done;
  item.head.code = code_of(status);
  item.head.bytes = 0;
  item.payload_bytes = 0;
}

void Outlet::add_item(const Item& item) {
  const std::size_t index = starts_count_++;
  Start& start = starts_[index];
  start.head = item.head;
  start.body = item.body;
  add_part(&start, sizeof start.head + body_bytes(item.head.kind));
  payload_parts_[index] = parts_count_;
  if (item.payload_bytes == 0) return;
  const bool is_bye = item.head.kind == FrameKind::bye;
  if (item.head.kind == FrameKind::data) served_.push_back({index, parts_count_, item.body});
  if (!is_bye) payloads_ |= std::uint64_t{1} << parts_count_;
  add_part(item.payload, item.payload_bytes);
  if (!is_bye) add_start({.kind = FrameKind::end});
  if (item.is_alone && item.payload_bytes >= kLeastCutBytes && item.payload_bytes < kMostCutBytes)
    is_cut_ = true;
}

base::Result<> Outlet::let_go(std::span<const RegionEntry> regions) noexcept {
  for (Served& one : served_) {
    if (one.part < next_ || one.body.size_bytes == 0) continue;  // all of it was sent
    if (check_access(regions, {one.body.address, one.body.key}, one.body.size_bytes,
                     PH_ACCESS_READ) == PH_OK)
      continue;
    iovec& part = parts_[one.part];
    if (!is_readable(part)) {
      if (!fill_up(one.start)) return no_memory();
      continue;
    }
    std::unique_ptr<std::byte[]> copy(new (std::nothrow) std::byte[part.iov_len]);
    try {
      if (copy == nullptr) throw std::bad_alloc();
      saved_.push_back(nullptr);
    } catch (const std::bad_alloc&) {
      return no_memory();
    }
    std::memcpy(copy.get(), part.iov_base, part.iov_len);
    part.iov_base = copy.get();
    saved_.back() = std::move(copy);
    one.body.size_bytes = 0;  // ours now
  }
  return {};
}

}  // namespace photon::transport::tcp
