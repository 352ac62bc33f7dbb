// A registration that a call makes for its buffer, and gives back unless the operation begins.
//
//   none -- take(), the buffer has one --> none
//        -- take(), it has none --> taken -- stay() --> none: the operation gives it back
//                                         -- end of the call --> given back, so nothing has changed
//
// Owner: the call.
#pragma once

#include "task/buffer/pe_buffers.hpp"

namespace photon::task {

class NewRegistration {
 public:
  NewRegistration(Buffers& buffers, Handle& own) noexcept : buffers_(buffers), own_(own) {}
  NewRegistration(const NewRegistration&) = delete;
  NewRegistration& operator=(const NewRegistration&) = delete;
  ~NewRegistration() {
    if (is_taken_) buffers_.registrations.give(buffers_.lane(), own_.registration);
  }

  // Not PH_OK: as ph_register(), and the buffer has none.
  ph_status take() noexcept {
    if (own_.registration.key != 0) return PH_OK;
    const ph_status status = buffers_.registrations.take(buffers_.lane(), own_.address,
                                                         own_.size_bytes, own_.registration);
    is_taken_ = status == PH_OK;
    return status;
  }
  void stay() noexcept { is_taken_ = false; }

 private:
  Buffers& buffers_;
  Handle& own_;
  bool is_taken_ = false;
};

}  // namespace photon::task
