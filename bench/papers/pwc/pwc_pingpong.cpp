// Figure 5 of the paper: round trips of a put with completion ids of some bytes, and of an active
// message whose payload lands where rank 1 wants it.
//
//   photonrun -n 2 pwc_pingpong WAY SIZES TIMES BYTES RUNS
//
// WAY: the bytes of an id, at most PHOTON_MAX_CID_SIZE; or `am`. Each rank answers when it has the
// remote id (the completion handler has run), and has taken the local one of what it sent before. A
// put has a local and a remote id of that size. Ids are verified one by one, bytes after each run.
#include "pwc.hpp"

namespace {

constexpr std::uint32_t kHandler = 1;

class Table {
 public:
  Table(const pwc::Job& job, std::uint32_t id_bytes, std::uint64_t size_bytes)
      : job_(&job), id_bytes_(id_bytes), size_(size_bytes), from_(job, size_), to_(job, size_) {
    pwc::fill(id_, sizeof id_, 0);
    if (is_am()) {
      job.check(ph_am_register(job.context(), kHandler, arrived, this), "registering");
      job.meet();
    }
  }
  ~Table() {
    job_->meet();
    if (is_am()) job_->check(ph_am_unregister(job_->context(), kHandler), "unregistering");
  }
  Table(const Table&) = delete;
  Table& operator=(const Table&) = delete;

  // Microseconds of a round trip.
  double run(std::uint64_t round, std::uint64_t times) {
    pwc::fill(from_.data(), size_, round);
    std::memset(to_.data(), 0xff, size_);
    remotes_ = locals_ = 0;
    job_->meet();
    const double begin_us = pwc::now_us();
    for (std::uint64_t i = 0; i < times; ++i) {
      if (job_->rank() == 0) send(i);
      while (remotes_ <= i) progress();
      if (job_->rank() == 1) send(i);
      while (locals_ <= i) progress();
    }
    const double took_us = pwc::now_us() - begin_us;
    job_->meet();
    pwc::verify(to_.data(), size_, round);
    return took_us / static_cast<double>(times);
  }

 private:
  bool is_am() const { return id_bytes_ == 0; }

  // The id of the operation number i, until the next call: little may be spent on it.
  const unsigned char* id_of(std::uint64_t i) {
    id_[0] = static_cast<unsigned char>(i);
    id_[id_bytes_ - 1] = static_cast<unsigned char>(i >> (id_bytes_ > 1 ? 8 : 0));
    return id_;
  }

  void send(std::uint64_t i) {
    const ph_rank peer = 1 - job_->rank();
    if (is_am()) {
      ph_am_args args{};
      args.size = sizeof args;
      args.id = kHandler;
      args.immediate = i;
      args.payload = from_.data();
      args.payload_bytes = size_;
      args.local = {&i, sizeof i};
      job_->check(ph_am_send(job_->context(), peer, &args), "sending");
      return;
    }
    ph_put_args args{};
    args.size = sizeof args;
    args.source = from_.data();
    args.size_bytes = size_;
    args.target = to_.at(peer, 0);
    args.local = args.remote = {id_of(i), id_bytes_};
    job_->check(ph_put(job_->context(), peer, &args), "putting");
  }

  void progress() {
    ph_completion found;
    std::size_t count = 0;
    job_->check(ph_probe(job_->context(), {1 - job_->rank(), PH_EITHER, ids_}, &found, 1, &count),
                "probing");
    if (count == 0) return;
    job_->check(found.status, "an operation");
    std::uint64_t& counted = found.kind == PH_LOCAL ? locals_ : remotes_;
    if (!is_am()) {
      const void* const bytes = found.long_id != nullptr ? found.long_id : &found.id;
      if (found.id_size_bytes != id_bytes_ || std::memcmp(id_of(counted), bytes, id_bytes_) != 0)
        pwc::fail("an id of %u bytes is wrong", id_bytes_);
    }
    ++counted;
  }

  static ph_status arrived(void* user, const ph_am_message* message, ph_am_landing* landing) {
    auto* const table = static_cast<Table*>(user);
    if (message->immediate != table->remotes_) pwc::fail("an active message is out of order");
    landing->buffer = table->to_.data();
    landing->buffer_bytes = table->size_;
    landing->done = [](void* argument, const ph_am_message*, const ph_am_part* part) {
      static_cast<Table*>(argument)->remotes_ += part->is_last != 0 ? 1U : 0U;
      return part->status;
    };
    landing->argument = table;
    return PH_OK;
  }

  const pwc::Job* job_;
  std::uint32_t id_bytes_;  // 0: active messages
  std::uint64_t size_;
  pwc::Memory from_, to_;
  std::uint64_t remotes_ = 0, locals_ = 0;
  unsigned char id_[PH_MAX_ID_BYTES];
  unsigned char ids_[PH_MAX_ID_BYTES] = {};  // where a probe puts long ones
};

void measure(const pwc::Job& job, char** arguments) {
  const std::string way = arguments[1];
  const auto id_bytes = way == "am" ? 0U : static_cast<std::uint32_t>(pwc::number_of(arguments[1]));
  if (id_bytes > PH_MAX_ID_BYTES) pwc::fail("an id has at most %d bytes", PH_MAX_ID_BYTES);
  const auto sizes = pwc::numbers_of(arguments[2]);
  const auto amount = pwc::amount_of(arguments + 3);
  std::vector<pwc::Summary> found;
  for (const auto size : sizes) {
    Table table(job, id_bytes, size);
    found.push_back(pwc::summary_of(amount, size, [&](std::uint64_t round, std::uint64_t times) {
      return table.run(round, times);
    }));
  }
  pwc::print(job, sizes, found);
}

}  // namespace

int main(int count, char** arguments) {
  if (count != 6) pwc::fail("usage: pwc_pingpong ID_BYTES|am SIZES TIMES BYTES RUNS");
  const pwc::Job job;
  if (job.size() != 2) pwc::fail("pwc_pingpong takes two ranks");
  measure(job, arguments);
  return 0;
}
