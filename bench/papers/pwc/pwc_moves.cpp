// Figures 3 and 4 of the paper: puts and gets with completion ids of 8 bytes between two ranks.
//
//   photonrun -n 2 pwc_moves WHAT SIZES TIMES BYTES RUNS [odd]
//
//   put-latency    post, then wait for the local id, which says that the source may be reused
//   landed-latency the same, but the local id waits until the bytes are at their place
//   get-latency    post, then wait for the local id, which says that the bytes are here
//   put-bandwidth  post all, take all local ids, flush
//   get-bandwidth  post all, take all local ids
//
// Each operation also has a remote id, which rank 1 probes. Bytes are verified after each run.
// `odd` moves all places by one byte. A figure is the time of one operation in microseconds; the
// places of successive operations follow each other in some MiB.
#include "pwc.hpp"

namespace {

enum class Move { put, landed, get };

struct Question {
  Move move = Move::put;
  bool is_flood = false;
  std::uint64_t shift = 0;  // of all places, in bytes
};

Question question_of(const std::string& name) {
  if (name == "put-latency") return {};
  if (name == "landed-latency") return {Move::landed};
  if (name == "get-latency") return {Move::get};
  if (name == "put-bandwidth") return {Move::put, true};
  if (name == "get-bandwidth") return {Move::get, true};
  pwc::fail("there is no question '%s'", name.c_str());
}

class Moves {
 public:
  Moves(const pwc::Job& job, const Question& question, std::uint64_t size_bytes)
      : job_(&job),
        question_(question),
        size_(size_bytes),
        stride_((size_bytes + question.shift + pwc::kLine_bytes - 1) / pwc::kLine_bytes *
                pwc::kLine_bytes),
        places_(std::clamp<std::uint64_t>(pwc::kSpan_bytes / stride_, 1, pwc::kMostPlaces)),
        from_(job, stride_ * places_),
        to_(job, stride_ * places_) {}

  // Returns the time of one operation in microseconds at rank 0, and 0 elsewhere.
  double run(std::uint64_t round, std::uint64_t times) {
    const bool is_source = (question_.move == Move::get) == (job_->rank() == 1);
    for (std::uint64_t place = 0; place < places_; ++place) {
      if (is_source) pwc::fill(from_.data() + offset(place), size_, round + place);
      if (!is_source) std::memset(to_.data() + offset(place), 0xff, size_);
    }
    job_->meet();
    double took_us = 0;
    if (job_->rank() == 0) took_us = question_.is_flood ? flood(times) : one_by_one(times);
    if (job_->rank() == 1) take(PH_REMOTE, 0, times);
    job_->meet();
    for (std::uint64_t place = 0; !is_source && place < std::min(places_, times); ++place)
      pwc::verify(to_.data() + offset(place), size_, round + place);
    return took_us / static_cast<double>(times);
  }

 private:
  std::uint64_t offset(std::uint64_t i) const { return i % places_ * stride_ + question_.shift; }

  ph_status post(std::uint64_t i) const {
    const ph_u64_ids ids{i, i};
    if (question_.move == Move::get)
      return ph_get_u64(job_->context(), 1, {to_.data() + offset(i), size_}, from_.at(1, offset(i)),
                        ids);
    const ph_target target = to_.at(1, offset(i));
    if (question_.move == Move::put)
      return ph_put_u64(job_->context(), 1, {from_.data() + offset(i), size_}, target, ids);
    ph_put_args args{};
    args.size = sizeof args;
    args.source = from_.data() + offset(i);
    args.size_bytes = size_;
    args.target = target;
    args.local = {&ids.local, sizeof ids.local};
    args.remote = {&ids.remote, sizeof ids.remote};
    args.flags = PH_DELIVERED;
    return ph_put(job_->context(), 1, &args);
  }

  // Takes ids until `count` have come, of which `sum` is what is known so far: all of 0, 1, 2, ...
  void take(std::uint32_t kind, std::uint64_t come, std::uint64_t count, std::uint64_t sum = 0) {
    const ph_rank peer = 1 - job_->rank();
    while (come < count) {
      const auto found = ph_probe_u64(job_->context(), peer, kind);
      job_->check(static_cast<ph_status>(found.status), "probing");
      if (found.kind == 0) continue;
      sum += found.id;
      ++come;
    }
    if (sum != count * (count - 1) / 2) pwc::fail("ids are not those that were posted");
  }

  double one_by_one(std::uint64_t times) {
    const double begin_us = pwc::now_us();
    for (std::uint64_t i = 0; i < times; ++i) {
      ph_status status = post(i);
      for (; status == PH_AGAIN; status = post(i)) {  // the peer has not taken the ids before it
        const auto none = ph_probe_u64(job_->context(), 1, PH_LOCAL);
        job_->check(static_cast<ph_status>(none.status), "probing");
        if (none.kind != 0) pwc::fail("a local id came that was not posted");
      }
      job_->check(status, "posting");
      ph_u64_completion found{};
      while (found.kind == 0) {
        found = ph_probe_u64(job_->context(), 1, PH_LOCAL);
        job_->check(static_cast<ph_status>(found.status), "probing");
      }
      if (found.id != i) pwc::fail("another local id than the one posted");
    }
    return pwc::now_us() - begin_us;
  }

  double flood(std::uint64_t times) {
    std::uint64_t come = 0, sum = 0;
    const double begin_us = pwc::now_us();
    for (std::uint64_t i = 0; i < times; ++i) {
      ph_status status = post(i);
      while (status == PH_AGAIN) {  // as many as the library keeps: taking some makes room
        const auto found = ph_probe_u64(job_->context(), 1, PH_LOCAL);
        job_->check(static_cast<ph_status>(found.status), "probing");
        if (found.kind != 0) {
          sum += found.id;
          ++come;
        }
        status = post(i);
      }
      job_->check(status, "posting");
    }
    take(PH_LOCAL, come, times, sum);
    if (question_.move == Move::put)
      job_->check(ph_flush(job_->context(), 1, PH_FOREVER), "flushing");
    return pwc::now_us() - begin_us;
  }

  const pwc::Job* job_;
  Question question_;
  std::uint64_t size_, stride_, places_;
  pwc::Memory from_, to_;
};

void measure(const pwc::Job& job, char** arguments, bool is_odd) {
  Question question = question_of(arguments[1]);
  question.shift = is_odd ? 1 : 0;
  const auto sizes = pwc::numbers_of(arguments[2]);
  const auto amount = pwc::amount_of(arguments + 3);
  std::vector<pwc::Summary> found;
  std::vector<double> lines;
  for (const auto size : sizes) {
    Moves moves(job, question, size);
    moves.run(0, std::max<std::uint64_t>(1, amount.times(size) / 10));
    std::vector<double> runs;
    const auto sent = job.lines_sent();
    for (std::uint64_t i = 1; i <= amount.runs; ++i)
      runs.push_back(moves.run(i, amount.times(size)));
    found.push_back(pwc::summary_of(runs));
    lines.push_back(static_cast<double>(job.lines_sent() - sent) /
                    static_cast<double>(amount.runs * amount.times(size)));
  }
  if (job.rank() != 0) return;
  pwc::Figures figures;
  for (std::size_t i = 0; i < sizes.size(); ++i) figures.add(sizes[i], found[i], lines[i]);
}

}  // namespace

int main(int count, char** arguments) {
  const bool is_odd = count == 7 && arguments[6] == std::string("odd");
  if (count != 6 && !is_odd) pwc::fail("usage: pwc_moves WHAT SIZES TIMES BYTES RUNS [odd]");
  const pwc::Job job;
  if (job.size() != 2) pwc::fail("pwc_moves takes two ranks");
  measure(job, arguments, is_odd);
  return 0;
}
