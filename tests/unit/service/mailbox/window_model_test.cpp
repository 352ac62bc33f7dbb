// A Window against an oracle that knows nothing but rows of bytes: random messages over random
// segments, thresholds and overlap policies; what is under way lands, fails or is taken back.
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "rounds.hpp"
#include "service/mailbox/window.hpp"

namespace photon::service::mailbox {
namespace {

struct ModelMail {
  Mail mail;
  Outcome outcome;
  int id = 0;

  std::byte byte(std::uint64_t at) const { return static_cast<std::byte>(id * 31 + int(at) + 1); }
};

// A buffer as the oracle sees it: which byte stands at each offset, if any has landed there.
struct ModelRow {
  std::vector<std::byte> memory;  // with gaps between the segments
  std::vector<ph_block> segments;
  std::vector<int> bytes;  // -1: none
  std::uint64_t threshold = 0;
  std::uint64_t landed_bytes = 0;  // also those that landed before
  std::uint64_t operations = 0;
  std::uint64_t top = 0;
  bool is_leaving = false;

  std::byte& place(std::uint64_t offset) const {
    std::size_t i = 0;
    for (; offset >= segments[i].size_bytes; ++i) offset -= segments[i].size_bytes;
    return static_cast<std::byte*>(segments[i].data)[offset];
  }
};

class WindowAndOracle : public Window::Owner {
 public:
  explicit WindowAndOracle(unsigned seed)
      : random_(seed), policy_(policy()), window_(1, policy_, {}) {
    post();
  }

  void step() {
    switch (random_() % 8) {
      case 0: post(); break;
      case 1:
        if (random_() % 4 == 0) inc_epoch();
        break;
      case 2:
      case 3: end_one(); break;
      default: admit(message());
    }
    check();
  }
  void finish() {
    while (!under_way_.empty()) end_one();
    check();
  }

  void handed_over(Window&, const HandedOver& over) noexcept override {
    ASSERT_EQ(over.epoch, over_);
    const ModelRow& row = *rows_[over_];
    EXPECT_EQ(over.why, row.is_leaving ? PH_MAILBOX_EARLY : PH_MAILBOX_COMPLETE);
    EXPECT_EQ(over.buffer.bytes, counted_bytes(row));
    EXPECT_EQ(over.buffer.operations, row.operations);
    EXPECT_EQ(over.buffer.top, row.top);
    EXPECT_EQ(over.buffer.total_bytes(), row.bytes.size());
    ++over_;
  }
  void recall(Window& window, std::uint64_t epoch) noexcept override {
    std::vector<ModelMail> recalled;
    std::erase_if(under_way_, [&](const ModelMail& one) {
      if (one.outcome.epoch == epoch) recalled.push_back(one);
      return one.outcome.epoch == epoch;
    });
    for (std::size_t i = 0; i < recalled.size(); ++i) window.let_go(epoch, *this);
    for (const ModelMail& one : recalled) admit(one);
  }

 private:
  std::uint64_t below(std::uint64_t end) { return random_() % end; }
  Policy policy() {
    Policy made;
    made.unit = below(3) == 0 ? PH_MAILBOX_OPERATIONS : PH_MAILBOX_BYTES;
    made.threshold = made.unit == PH_MAILBOX_OPERATIONS ? 1 + below(6) : 0;
    made.retained = static_cast<std::uint32_t>(below(3));
    made.overlap = static_cast<Overlap>(below(3));
    return made;
  }
  void post() {
    auto row = std::make_unique<ModelRow>();
    std::uint64_t whole = 0;
    std::vector<std::uint64_t> sizes(1 + below(5));
    for (std::uint64_t& size : sizes) whole += size = 1 + below(20);
    row->memory.resize(whole + sizes.size(), std::byte{0});
    std::byte* end = row->memory.data() + row->memory.size();
    for (const std::uint64_t size : sizes) {
      end -= size + below(2);
      row->segments.push_back({end, size});
    }
    row->bytes.assign(whole, -1);
    if (policy_.unit == PH_MAILBOX_BYTES && below(2) == 0) row->threshold = 1 + below(whole);
    Buffer buffer;
    buffer.threshold = row->threshold;
    const bool is_plain = sizes.size() == 1 && below(2) == 0;
    if (is_plain) buffer.data = static_cast<std::byte*>(row->segments[0].data);
    if (is_plain) buffer.size_bytes = whole;
    ASSERT_EQ(window_.post(buffer, is_plain ? std::span<const ph_block>{} : row->segments), PH_OK);
    if (row->threshold == 0)
      row->threshold = policy_.unit == PH_MAILBOX_BYTES ? whole : policy_.threshold;
    rows_.push_back(std::move(row));
  }
  ModelMail message() {
    ModelMail one;
    one.id = ++last_id_;
    one.mail.offset = below(60);
    one.mail.size_bytes = below(40);
    if (below(4) == 0) one.mail.epoch = over_ + below(3);
    return one;
  }

  // ---- the oracle
  std::uint64_t covered(std::uint64_t epoch, std::vector<bool>& is) const {
    const ModelRow& row = *rows_[epoch];
    is.assign(row.bytes.size(), false);
    for (std::size_t i = 0; i < is.size(); ++i) is[i] = row.bytes[i] >= 0;
    for (const ModelMail& one : under_way_)
      for (std::uint64_t i = 0; i < one.mail.size_bytes; ++i)
        if (one.outcome.epoch == epoch) is[one.mail.offset + i] = true;
    return static_cast<std::uint64_t>(std::count(is.begin(), is.end(), true));
  }
  std::uint64_t counted_bytes(const ModelRow& row) const {
    if (policy_.overlap == Overlap::counts) return row.landed_bytes;
    return static_cast<std::uint64_t>(
        std::count_if(row.bytes.begin(), row.bytes.end(), [](int byte) { return byte >= 0; }));
  }
  bool is_full(std::uint64_t epoch) const {
    const ModelRow& row = *rows_[epoch];
    if (row.is_leaving) return true;
    std::uint64_t bytes = row.landed_bytes, operations = row.operations;
    for (const ModelMail& one : under_way_) {
      if (one.outcome.epoch != epoch) continue;
      bytes += one.mail.size_bytes;
      ++operations;
    }
    std::vector<bool> is;
    if (policy_.overlap != Overlap::counts) bytes = covered(epoch, is);
    return (policy_.unit == PH_MAILBOX_BYTES ? bytes : operations) >= row.threshold;
  }
  Outcome expected(const Mail& mail) const {
    std::uint64_t epoch = mail.epoch;
    if (epoch == PH_ANY_EPOCH)
      for (epoch = over_; epoch < rows_.size() && is_full(epoch);) ++epoch;
    if (epoch < over_) return {Fate::refused, PH_ERR_EPOCH};
    if (epoch >= rows_.size()) return {Fate::waits, PH_OK};
    if (is_full(epoch)) return {Fate::refused, PH_ERR_EPOCH};
    const std::uint64_t size = rows_[epoch]->bytes.size();
    if (mail.offset > size || mail.size_bytes > size - mail.offset)
      return {Fate::refused, PH_ERR_RANGE};
    std::vector<bool> is;
    static_cast<void>(covered(epoch, is));
    for (std::uint64_t i = 0; i < mail.size_bytes; ++i)
      if (policy_.overlap == Overlap::is_refused && is[mail.offset + i])
        return {Fate::refused, PH_ERR_RANGE};
    return {Fate::lands, PH_OK, epoch};
  }

  // ---- what happens to both
  void admit(ModelMail one) {
    const Outcome oracle = expected(one.mail);
    one.outcome = window_.admit(one.mail, *this);
    EXPECT_EQ(one.outcome.status, oracle.status);
    EXPECT_EQ(one.outcome.is_admitted(), oracle.fate == Fate::lands);
    EXPECT_EQ(one.outcome.fate == Fate::waits, oracle.fate == Fate::waits);
    if (!one.outcome.is_admitted()) return;
    EXPECT_EQ(one.outcome.epoch, oracle.epoch);
    under_way_.push_back(one);
    if (below(2) == 0) end(under_way_.size() - 1, true);
  }
  void end_one() {
    if (!under_way_.empty()) end(below(under_way_.size()), below(4) != 0);
  }
  void end(std::size_t index, bool lands) {
    const ModelMail one = under_way_[index];
    under_way_.erase(under_way_.begin() + static_cast<std::ptrdiff_t>(index));
    if (!lands) return window_.failed(one.mail, one.outcome, *this);
    for (std::uint64_t done = 0; done < one.mail.size_bytes;) {
      const auto piece = one.outcome.piece(done, one.mail.size_bytes - done);
      for (std::byte& byte : piece) byte = one.byte(done++);
    }
    ModelRow& row = *rows_[one.outcome.epoch];
    for (std::uint64_t i = 0; i < one.mail.size_bytes; ++i)
      row.bytes[one.mail.offset + i] = static_cast<int>(one.byte(i));
    row.landed_bytes += one.mail.size_bytes;
    ++row.operations;
    if (one.mail.size_bytes != 0)
      row.top = std::max(row.top, one.mail.offset + one.mail.size_bytes);
    if (one.outcome.fate == Fate::scatters)
      window_.scattered(one.mail, one.outcome, *this);
    else
      window_.landed(one.mail, one.outcome, *this);
  }
  void inc_epoch() {
    std::uint64_t epoch = over_;
    while (epoch < rows_.size() && rows_[epoch]->is_leaving) ++epoch;
    if (epoch < rows_.size()) rows_[epoch]->is_leaving = true;
    EXPECT_EQ(window_.inc_epoch(*this), epoch < rows_.size() ? PH_OK : PH_AGAIN);
  }

  void check() {
    for (std::uint64_t epoch = over_; epoch < rows_.size(); ++epoch) {
      const bool is_written = std::any_of(under_way_.begin(), under_way_.end(),
                                          [&](auto& one) { return one.outcome.epoch == epoch; });
      if (!is_full(epoch) || is_written) {
        EXPECT_EQ(over_, epoch) << "handed over: those before, and no others";
        break;
      }
    }
    EXPECT_EQ(window_.epoch(), over_);
    for (std::uint64_t epoch = 0; epoch < rows_.size(); ++epoch) check(epoch);
  }
  void check(std::uint64_t epoch) {
    const ModelRow& row = *rows_[epoch];
    std::vector<bool> landed(row.bytes.size());
    for (std::size_t i = 0; i < row.bytes.size(); ++i) {
      landed[i] = row.bytes[i] >= 0;
      ASSERT_EQ(static_cast<int>(row.place(i)), std::max(row.bytes[i], 0)) << epoch << " at " << i;
    }
    const Coverage* const coverage = window_.coverage(epoch);
    const bool is_known = policy_.keeps_ranges() && epoch + policy_.retained >= over_;
    ASSERT_EQ(coverage != nullptr, is_known) << epoch;
    if (!is_known) return;
    std::vector<bool> told(row.bytes.size());
    std::uint64_t last = 0;
    for (const auto& [begin, end] : coverage->ranges()) {
      ASSERT_TRUE(begin < end && (begin > last || (begin == 0 && last == 0)));
      std::fill(told.begin() + static_cast<std::ptrdiff_t>(begin),
                told.begin() + static_cast<std::ptrdiff_t>(end), true);
      last = end;
    }
    ASSERT_EQ(told, landed);
  }

  std::mt19937 random_;
  const Policy policy_;
  Window window_;
  std::vector<std::unique_ptr<ModelRow>> rows_;
  std::vector<ModelMail> under_way_;
  std::uint64_t over_ = 0;
  int last_id_ = 0;
};

TEST(WindowModel, bytes_ranges_and_epochs_are_those_of_an_oracle) {
  for (unsigned seed = 0; seed < photon::test::rounds(10'000); ++seed) {
    WindowAndOracle model(seed);
    for (int step = 0; step < 30; ++step) model.step();
    model.finish();
    ASSERT_FALSE(testing::Test::HasFailure()) << "seed " << seed;
  }
}

}  // namespace
}  // namespace photon::service::mailbox
