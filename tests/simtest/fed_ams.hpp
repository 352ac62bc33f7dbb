// The model of active messages and that of their quiesces, fed by hand: rank 0 sends to rank 1.
// Owner: a test. Threads: one.
#pragma once

#include <gtest/gtest.h>

#include <cstring>
#include <memory>

#include "simtest/am_quiets.hpp"
#include "simtest/pattern.hpp"

namespace photon::simtest {

class AmModelFed : public testing::Test {
 protected:
  AmModelFed() {
    program_.ranks = 2;
    program_.window_bytes = 4096;
    program_.options = {{"max_cid_size", "8"}, {"am_carried_max", "1024"}};
    program_.steps.resize(2);
    program_.ams = true;
    oracle_ = std::make_unique<Oracle>(program_, history_, [] { return 0; });
    ams_ = std::make_unique<AmModel>(*oracle_, program_);
    quiets_ = std::make_unique<AmQuiets>(*oracle_, *ams_, program_);
    for (const ph_rank rank : {0u, 1u}) ams_->enroll(rank, kAmIds[0], 1);
    step_.verb = Verb::am_send;
    step_.size_bytes = 100;
    step_.local_id_bytes = 8;
    step_.flags = PH_NO_LCE;
  }
  // By rank 0, to rank 1, not yet answered by the call.
  AmMessage& begin(AmMessage* cause = nullptr) {
    const ph_rank from = cause == nullptr ? 0 : cause->to;
    return ams_->begin(from,
                       {AmMessage::Way::args, 1 - from, &step_, cause, quiets_->of(from).begun});
  }
  AmMessage& send(AmMessage* cause = nullptr) {
    AmMessage& one = begin(cause);
    ams_->posted(one, PH_OK);
    return one;
  }
  // As its handler sees it, with the bytes that it had.
  ph_am_message seen(const AmMessage& one) {
    bytes_.resize(one.payload.size());
    Pattern(Purpose::source, one.value()).fill(bytes_);
    const std::uint64_t value = one.value();
    std::memcpy(bytes_.data(), &value, sizeof value);
    ph_am_message message{};
    message.size = sizeof message;
    message.source = one.from;
    message.id = one.id;
    message.immediate = one.immediate;
    message.payload = one.is_pulled ? nullptr : bytes_.data();
    message.payload_bytes = bytes_.size();
    return message;
  }
  AmMessage* begun(const AmMessage& one, std::uint64_t handler = 1) {
    return ams_->begun(one.to, handler, seen(one));
  }
  void handle(AmMessage& one, ph_status status = PH_OK) {
    if (begun(one) != nullptr) ams_->handled(one.to, one, status);
  }
  void complete(const AmMessage& one, ph_status status) {
    ph_completion completion{};
    completion.kind = PH_LOCAL;
    completion.peer = one.to;
    completion.status = status;
    completion.id = one.value();
    completion.id_size_bytes = 8;
    EXPECT_TRUE(ams_->completed(one.from, completion));
  }
  static ph_completion without_id(ph_status status) {
    ph_completion completion{};
    completion.kind = PH_LOCAL;
    completion.peer = 1;
    completion.status = status;
    return completion;
  }
  bool nameless(ph_status status) { return ams_->takes_nameless(0, without_id(status)); }
  void end_quiesce(ph_rank rank, ph_status status, ph_rank named = 0) {
    ph_error error{};
    error.status = status;
    error.rank = named;
    quiets_->ended(rank, status, error);
  }
  std::string kind() const { return oracle_->failed() ? oracle_->finding()->kind : "none"; }

  Program program_;
  Step step_;
  History history_{false};
  std::unique_ptr<Oracle> oracle_;
  std::unique_ptr<AmModel> ams_;
  std::unique_ptr<AmQuiets> quiets_;
  std::vector<std::byte> bytes_;
};

}  // namespace photon::simtest
