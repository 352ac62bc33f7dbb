// What is over: libfabric's completion queue, and what the parts of one fragment come to.
#include <rdma/fi_cm.h>
#include <rdma/fi_errno.h>

#include <algorithm>
#include <new>

#include "transport/ofi/lib_fabric.hpp"

namespace photon::transport::ofi {

// With a descriptor to sleep on, or without if the provider has none.
base::Result<> LibFabric::open_queue(std::size_t size) {
  fi_cq_attr wanted{};
  wanted.size = size;
  wanted.format = traits_.data_bytes == 0 ? FI_CQ_FORMAT_MSG : FI_CQ_FORMAT_DATA;
  wanted.wait_obj = FI_WAIT_FD;
  const auto open = [&](auto** made) {
    return ::fi_cq_open(domain_.get(), &wanted, made, nullptr);
  };
  int descriptor = -1;
  if (opened(queue_, "the completion queue", open) &&
      ::fi_control(&queue_->fid, FI_GETWAIT, &descriptor) == 0) {
    traits_.wait_fd = descriptor;
    return {};
  }
  queue_.reset();
  wanted.wait_obj = FI_WAIT_NONE;
  return opened(queue_, "the completion queue", open);
}

namespace {

// Without an operation: as of a stranger's write.
Completion completion_of(const fi_cq_msg_entry& entry) noexcept {
  return {static_cast<Operation*>(entry.op_context), entry.len};
}

// A message may bear data, too, if a stranger sends it: that is none of a write. Providers do not
// agree on the flags of a peer's write (efa names it FI_WRITE), but it has no context of ours.
Completion completion_of(const fi_cq_data_entry& entry) noexcept {
  const bool is_of_peer = entry.op_context == nullptr || (entry.flags & FI_REMOTE_WRITE) != 0;
  if (!is_of_peer) return {static_cast<Operation*>(entry.op_context), entry.len};
  if ((entry.flags & FI_REMOTE_CQ_DATA) == 0) return {};
  return {.operation = nullptr, .size_bytes = 0, .data = entry.data};
}

}  // namespace

// What fails of a fragment in parts is told by the last of them.
bool LibFabric::is_last(Operation* operation, bool is_well) noexcept {
  if (operation == nullptr || operation->parts == 0) return true;
  operation->has_failed_part |= !is_well;
  return --operation->parts == 0;
}

// An operation is over of which a part has failed; or nothing is.
Fabric::Got LibFabric::failed_part() noexcept {
  if (failed_parts_.empty()) return Got::some;
  failed_ = failed_parts_.back();
  failed_parts_.pop_back();
  return Got::error;
}

// Parts that come before the last one leave no completion, so it is read until there is no more, or
// no room. An error behind what was found stays for the next call.
Fabric::Got LibFabric::read(std::span<Completion> into, std::size_t& count) noexcept {
  constexpr std::size_t kMost = 32;
  union {  // the longer begins as the shorter does
    fi_cq_msg_entry plain[kMost];
    fi_cq_data_entry with_data[kMost];
  } entries;
  count = 0;
  if (!failed_parts_.empty()) return failed_part();
  while (count < into.size()) {
    const std::size_t asked = std::min(kMost, into.size() - count);
    const ssize_t got = ::fi_cq_read(queue_.get(), &entries, asked);
    if (got == -FI_EAGAIN || got == 0) return count == 0 ? failed_part() : Got::some;
    if (got == -FI_EAVAIL) {
      if (count != 0) return Got::some;
      const Got how = read_error();
      if (how != Got::error || is_last(failed_, false)) return how;
      continue;
    }
    if (got < 0) {
      keep_words(got);
      return Got::broken;
    }
    for (std::size_t i = 0; i < static_cast<std::size_t>(got); ++i) {
      const Completion one = traits_.data_bytes == 0 ? completion_of(entries.plain[i])
                                                     : completion_of(entries.with_data[i]);
      received(one.operation);
      if (!is_last(one.operation, true)) continue;
      if (one.operation != nullptr && one.operation->has_failed_part)
        failed_parts_.push_back(one.operation);
      else
        into[count++] = one;
    }
    // Nothing found says that there is no more: an error may stand behind first parts.
    if (static_cast<std::size_t>(got) < asked && count != 0) return Got::some;
  }
  return Got::some;
}

// `provider` stands first in an Operation, and is what the provider was given.
Fabric::Got LibFabric::read_error() noexcept {
  fi_cq_err_entry entry{};
  const ssize_t got = ::fi_cq_readerr(queue_.get(), &entry, 0);
  if (got == -FI_EAGAIN) return Got::some;
  if (got < 0) {
    keep_words(got);
    return Got::broken;
  }
  failed_ = static_cast<Operation*>(entry.op_context);
  received(failed_);
  try {
    words_ = words_of(-entry.err);
    const char* more = ::fi_cq_strerror(queue_.get(), entry.prov_errno, entry.err_data, nullptr, 0);
    if (more != nullptr && words_ != more) words_ += std::string(" (") + more + ")";
  } catch (const std::bad_alloc&) {
    words_.clear();
  }
  return Got::error;
}

Fabric::MayWait LibFabric::may_wait() noexcept {
  if (has_left_something_) return MayWait::failed;
  if (!failed_parts_.empty()) return MayWait::not_now;
  fid* waited[] = {&queue_->fid};
  switch (taken(::fi_trywait(fabric_.get(), waited, 1))) {
    case Taken::yes: return MayWait::yes;
    case Taken::full: return MayWait::not_now;
    default: return MayWait::failed;
  }
}

}  // namespace photon::transport::ofi
