// The model of mailboxes, fed by hand: a fixture of its tests.
#pragma once

#include <gtest/gtest.h>

#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "simtest/mail_model.hpp"

namespace photon::simtest {

inline constexpr std::uint64_t kBufferBytes = 256;

// Rank 1 has a mailbox, to which rank 0 sends. What the library does there is done by hand.
class MailModelFed : public testing::Test {
 protected:
  void SetUp() override {
    program_.ranks = 2;
    program_.window_bytes = 4096;
    program_.options = {{"max_cid_size", "64"},
                        {"requests", "64"},
                        {"mailbox_carried_max", "64"},
                        {"mailbox_early_bytes", "1024"},
                        {"mailbox_early_total_bytes", "4096"}};
    program_.steps.resize(2);
    program_.mailboxes = true;
    program_.mail_bytes = kBufferBytes;
    oracle_ = std::make_unique<Oracle>(program_, history_, [] { return 0; });
    model_ = std::make_unique<MailModel>(*oracle_, program_);
  }
  MailBoxes& boxes() { return model_->boxes(); }
  MailBox& box() { return boxes().place(1, 0).lives.back(); }

  void open(ph_mailbox_placing placing = PH_MAILBOX_STEERED, std::uint64_t operations = 2,
            std::uint32_t retained = 0) {
    ph_mailbox_args args{};
    args.threshold = operations;
    args.unit = PH_MAILBOX_OPERATIONS;
    args.placing = placing;
    args.source = PH_ANY_RANK;
    args.retained = retained;
    boxes().opened(1, 0, args, {++handles_}, PH_OK);
    sync(box().end_epoch);
  }
  void sync(std::uint64_t epoch) {
    if (box().incarnations.empty() || box().incarnations.back() == 0) ++incarnation_;
    boxes().sync(box(), epoch, incarnation_, PH_OK);
  }
  // Its bytes.
  std::byte* post(std::uint32_t slot, ph_status status = PH_OK) {
    Step step;
    step.requested = true;
    const ph_mailbox_buffer buffer = boxes().prepare(box(), slot, step);
    const bool is_held = boxes().is_held(box(), slot);
    if (!is_held) boxes().fill(box(), slot, buffer);
    boxes().posted(box(), slot, buffer, status, is_held ? PH_ERR_STATE : PH_OK);
    return static_cast<std::byte*>(buffer.data);
  }
  Mailed& send(std::uint64_t size_bytes, std::uint64_t offset = 64, bool appends = false,
               ph_status status = PH_OK) {
    Step step;
    step.verb = appends ? Verb::mail_append : Verb::mail_put;
    step.peer = 1;
    step.size_bytes = size_bytes;
    step.offset = offset;
    step.flags = PH_NO_LCE;
    step.kinds = 0;
    Mailed& mail = model_->begin(0, step, 0);
    model_->posted(mail, status);
    return mail;
  }
  static void land(const Mailed& mail, std::byte* data, std::uint64_t at) {
    mail.fill({data + at, mail.size_bytes()});
  }
  void tell(const Mailed& mail, ph_status status) {
    const std::vector<std::byte> id = MailModel::id_of(mail);
    ph_completion one{};
    std::memcpy(&one.id, id.data(), sizeof one.id);
    one.id_size_bytes = 8;
    one.kind = PH_LOCAL;
    one.peer = 1;
    one.status = status;
    EXPECT_TRUE(model_->completed(0, one));
  }
  // Of the buffer that is handed over next.
  ph_mailbox_event event_of(std::uint64_t operations, std::uint64_t bytes, std::uint64_t size_bytes,
                            ph_mailbox_why why = PH_MAILBOX_COMPLETE) {
    const Posted& one = *box().awaited.front().posted;
    ph_mailbox_event event{};
    event.box = box().handle;
    event.address = kMailAddresses[0];
    event.epoch = one.epoch;
    event.data = boxes().place(1, 0).slots[one.slot].data();
    event.size_bytes = size_bytes;
    event.bytes = bytes;
    event.operations = operations;
    event.cookie = one.cookie;
    event.incarnation = box().incarnations.back();
    event.why = why;
    return event;
  }
  void take(const ph_mailbox_event& event) {
    boxes().place(1, 0).slots[box().awaited.front().posted->slot].at() = {event.data,
                                                                          event.size_bytes};
    boxes().took(1, event);
  }
  std::string kind() const { return oracle_->failed() ? oracle_->finding()->kind : "none"; }

  Program program_;
  History history_{false};
  std::unique_ptr<Oracle> oracle_;
  std::unique_ptr<MailModel> model_;
  std::uint64_t handles_ = 0;
  std::uint32_t incarnation_ = 0;
};

}  // namespace photon::simtest
