#include "compat/matched_buffer.hpp"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <utility>

#include "compat/detached_requests.hpp"
#include "compat/requests.hpp"

namespace photon::classic {

bool is_loss(ph_status status) noexcept {
  return status == PH_ERR_DEPARTED || status == PH_ERR_PEER || status == PH_ERR_PROTOCOL;
}

template <class Args, class Post>
ph_status MatchedBuffer::post(Args& args, Post post) {
  args.size = sizeof args;
  const std::scoped_lock lock(mutex_);
  transfers_.reserve(transfers_.size() + 1);
  ph_request handle = PH_REQUEST_NONE;
  args.request = &handle;
  const ph_status status = post(args);
  if (status != PH_OK) return status;
  if (handle != PH_REQUEST_NONE) transfers_.push_back(handle);
  has_news_ = true;
  return PH_OK;
}

ph_status MatchedBuffer::put(ph_context* context, ph_const_block source, std::uint64_t offset) {
  ph_put_args args{};
  args.source = source.data;
  args.size_bytes = source.size_bytes;
  // Delivered: no error can come after the rid was taken.
  args.flags = PH_NO_RCE | PH_DELIVERED;
  return post(
      args, [&](const ph_put_args& put) { return ph_put_buffer(context, &buffer_, offset, &put); });
}

ph_status MatchedBuffer::get(ph_context* context, ph_block destination, std::uint64_t offset) {
  ph_get_args args{};
  args.destination = destination.data;
  args.size_bytes = destination.size_bytes;
  args.flags = PH_NO_RCE;
  return post(args, [&](const ph_get_args& get) {
    const ph_status status = ph_get_buffer(context, &buffer_, offset, &get);
    if (!is_loss(status) || buffer_.data == nullptr) return status;
    // All else was found good before its owner was found gone: what came along stays.
    if (get.size_bytes != 0)
      std::memcpy(get.destination, static_cast<const std::byte*>(buffer_.data) + offset,
                  get.size_bytes);
    return PH_OK;
  });
}

ph_status MatchedBuffer::get_at(ph_context* context, std::uint64_t address,
                                const ph_get_args& args) {
  const std::scoped_lock lock(mutex_);
  const std::uint64_t offset = address - reinterpret_cast<std::uintptr_t>(buffer_.data);
  const ph_status status = ph_get_buffer(context, &buffer_, offset, &args);
  const bool has_ids =
      (args.flags & PH_NO_RCE) == 0 || ((args.flags & PH_NO_LCE) == 0 && args.request == nullptr);
  if (!is_loss(status) || has_ids) return status;
  std::memcpy(args.destination, static_cast<const std::byte*>(buffer_.data) + offset,
              args.size_bytes);
  return PH_OK;
}

ph_status MatchedBuffer::read(std::uint64_t address, ph_block destination) {
  const std::scoped_lock lock(mutex_);
  if (is_finished_) return PH_ERR_NOT_FOUND;
  const std::uint64_t offset = address - reinterpret_cast<std::uintptr_t>(buffer_.data);
  if (offset > buffer_.size_bytes || destination.size_bytes > buffer_.size_bytes - offset)
    return PH_ERR_RANGE;
  if (destination.size_bytes != 0)
    std::memcpy(destination.data, static_cast<const std::byte*>(buffer_.data) + offset,
                destination.size_bytes);
  return PH_OK;
}

ph_status MatchedBuffer::finish(ph_context* context) {
  const std::scoped_lock lock(mutex_);
  if (is_finished_) return PH_ERR_NOT_FOUND;
  const ph_status status = ph_finish(context, &buffer_);
  // Of an owner that is gone it is over all the same.
  if (status <= 0 && status != PH_ERR_STATE && status != PH_ERR_FORKED) is_finished_ = true;
  return status;
}

bool MatchedBuffer::is_finished() {
  const std::scoped_lock lock(mutex_);
  return is_finished_;
}

ph_request MatchedBuffer::pending() {
  const std::scoped_lock lock(mutex_);
  return transfers_.empty() ? PH_REQUEST_NONE : transfers_.back();
}

bool MatchedBuffer::leave(DetachedRequests& detached, Requests& requests, photon_rid rid) {
  const std::scoped_lock lock(mutex_);
  detached.add(transfers_);  // one that somebody waits for meanwhile is gone from there soon
  if (!requests.remove(rid)) return false;
  transfers_.clear();
  return true;
}

bool MatchedBuffer::ended(ph_request handle, ph_status status) {
  const std::scoped_lock lock(mutex_);
  if (std::erase(transfers_, handle) == 0) return false;
  if (worst_ == PH_OK) worst_ = status;
  return true;
}

bool MatchedBuffer::has_news() {
  const std::scoped_lock lock(mutex_);
  return has_news_ && transfers_.empty();
}

ph_status MatchedBuffer::tell() {
  const std::scoped_lock lock(mutex_);
  has_news_ = false;
  return std::exchange(worst_, PH_OK);
}

}  // namespace photon::classic
