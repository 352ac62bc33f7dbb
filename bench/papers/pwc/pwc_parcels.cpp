// Section V of the paper: a task runtime whose progress loop is a probe. Rank 0 sends parcels; the
// id of each has an operation and the address at which the parcel lies, by which the probe's
// callback at rank 1 finds the function to run. That one reads the parcel and sets an and-LCO at
// rank 0 by an id without bytes. `am` does the same by active messages.
//
//   photonrun -n 2 pwc_parcels WAY WINDOW SIZES TIMES BYTES RUNS
//
// WAY: probe or am. At most WINDOW parcels are alive: 1 asks for the round trip, more for the rate.
// Each parcel is verified by the sum of its words, whose number (SIZES / 8) is at least 1.
#include "pwc.hpp"

namespace {

enum Operation : std::uint64_t { kRunTask, kSetLco, kOperations };

constexpr unsigned kOperationShift = 48;
constexpr std::uint64_t kAddressMask = (std::uint64_t{1} << kOperationShift) - 1;
constexpr std::uint64_t kMostWindow = 1024;

class Runtime {
 public:
  Runtime(const pwc::Job& job, bool is_am, std::uint64_t window, std::uint64_t size_bytes)
      : job_(&job),
        is_am_(is_am),
        window_(window),
        words_(size_bytes / sizeof(std::uint64_t)),
        from_(job, window * size_bytes),
        to_(job, window * size_bytes) {
    for (std::uint64_t place = 0; place < window; ++place) free_.push_back(place);
    for (std::uint32_t i = 0; is_am && i < kOperations; ++i)
      job.check(ph_am_register(job.context(), i, arrived, this), "registering");
    job.meet();
  }
  ~Runtime() {
    job_->meet();
    for (std::uint32_t i = 0; is_am_ && i < kOperations; ++i)
      job_->check(ph_am_unregister(job_->context(), i), "unregistering");
  }
  Runtime(const Runtime&) = delete;
  Runtime& operator=(const Runtime&) = delete;

  // Microseconds of a parcel.
  double run(std::uint64_t times) {
    done_ = 0;
    job_->meet();
    const double begin_us = pwc::now_us();
    for (std::uint64_t sent = 0; done_ < times; progress()) {
      for (; job_->rank() == 0 && sent < times && !free_.empty(); ++sent) spawn(sent);
    }
    const double took_us = pwc::now_us() - begin_us;
    job_->meet();
    return took_us / static_cast<double>(times);
  }

 private:
  std::uint64_t bytes() const { return words_ * sizeof(std::uint64_t); }

  // The first word is the parcel's number, and the sum of all of them is known from it.
  void spawn(std::uint64_t number) {
    const auto place = free_.back();
    free_.pop_back();
    auto* const words = reinterpret_cast<std::uint64_t*>(from_.data()) + place * words_;
    for (std::uint64_t i = 0; i < words_; ++i) words[i] = number + i;
    if (is_am_) return send(place, words);
    const ph_target target = to_.at(1, place * bytes());
    const std::uint64_t id = (kRunTask << kOperationShift) | target.address;
    ph_put_args args{};
    args.size = sizeof args;
    args.source = words;
    args.size_bytes = bytes();
    args.target = target;
    args.remote = {&id, sizeof id};
    args.flags = PH_NO_LCE;
    job_->check(ph_put(job_->context(), 1, &args), "putting a parcel");
  }

  void send(std::uint64_t place, const std::uint64_t* words) {
    ph_am_args args{};
    args.size = sizeof args;
    args.id = kRunTask;
    args.flags = PH_NO_LCE;
    args.immediate = place;
    args.payload = words;
    args.payload_bytes = bytes();
    job_->check(ph_am_send(job_->context(), 1, &args), "sending a parcel");
  }

  void progress() {
    if (is_am_) {
      const auto status = ph_am_poll(job_->context(), 0);
      if (status != PH_AGAIN) job_->check(status, "polling");
      return;
    }
    const ph_query query{PH_ANY_RANK, PH_REMOTE, nullptr};
    job_->check(ph_probe_each(job_->context(), query, on_id, this, nullptr), "probing");
  }

  // The callback of the probe: the operation in the id names the function.
  static void on_id(void* user, const ph_completion* completion) {
    static constexpr void (Runtime::*kActions[])(std::uint64_t) = {&Runtime::run_task,
                                                                   &Runtime::set_lco};
    const auto operation = completion->id >> kOperationShift;
    if (operation >= kOperations) pwc::fail("an id names no operation");
    (static_cast<Runtime*>(user)->*kActions[operation])(completion->id & kAddressMask);
  }

  void run_task(std::uint64_t address) {
    work(reinterpret_cast<const std::uint64_t*>(address));
    const auto place = (address - reinterpret_cast<std::uint64_t>(to_.data())) / bytes();
    const auto id = (std::uint64_t{kSetLco} << kOperationShift) | place;
    job_->check(ph_notify(job_->context(), 0, id), "setting the LCO");
  }

  void set_lco(std::uint64_t place) {
    if (place >= window_) pwc::fail("an LCO is set for no parcel");
    free_.push_back(place);
    ++done_;
  }

  void work(const std::uint64_t* words) {
    std::uint64_t sum = 0;
    for (std::uint64_t i = 0; i < words_; ++i) sum += words[i];
    if (sum != words_ * words[0] + words_ * (words_ - 1) / 2) pwc::fail("a parcel is wrong");
    ++done_;
  }

  static ph_status arrived(void* user, const ph_am_message* message, ph_am_landing*) {
    auto* const runtime = static_cast<Runtime*>(user);
    if (message->payload == nullptr) pwc::fail("a parcel has to be carried");
    if (message->id == kSetLco) {
      runtime->set_lco(*static_cast<const std::uint64_t*>(message->payload));
      return PH_OK;
    }
    runtime->work(static_cast<const std::uint64_t*>(message->payload));
    const std::uint64_t place = message->immediate;
    return ph_am_send_small(runtime->job_->context(), 0, kSetLco, {&place, sizeof place});
  }

  const pwc::Job* job_;
  bool is_am_;
  std::uint64_t window_, words_;
  pwc::Memory from_, to_;
  std::vector<std::uint64_t> free_;  // places of parcels that are not alive
  std::uint64_t done_ = 0;           // rank 0: LCOs set; rank 1: tasks run
};

void measure(const pwc::Job& job, char** arguments) {
  const std::string way = arguments[1];
  if (way != "probe" && way != "am") pwc::fail("'%s' is neither probe nor am", way.c_str());
  const auto window = pwc::number_of(arguments[2]);
  if (window > kMostWindow) pwc::fail("a window has at most %d parcels", int{kMostWindow});
  const auto sizes = pwc::numbers_of(arguments[3]);
  const auto amount = pwc::amount_of(arguments + 4);
  std::vector<pwc::Summary> found;
  for (const auto size : sizes) {
    if (size % sizeof(std::uint64_t) != 0) pwc::fail("a parcel has whole words");
    Runtime runtime(job, way == "am", window, size);
    found.push_back(pwc::summary_of(
        amount, size, [&](std::uint64_t, std::uint64_t times) { return runtime.run(times); }));
  }
  pwc::print(job, sizes, found);
}

}  // namespace

int main(int count, char** arguments) {
  if (count != 7) pwc::fail("usage: pwc_parcels probe|am WINDOW SIZES TIMES BYTES RUNS");
  const pwc::Job job;
  if (job.size() != 2) pwc::fail("pwc_parcels takes two ranks");
  measure(job, arguments);
  return 0;
}
