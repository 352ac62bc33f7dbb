// Our side of a collective operation: by ph_coll_run(), by ph_coll_begin() and a wait, or by
// ph_coll_start() of a prepared one and a wait.
// Owner: a run; one thread.
#pragma once

#include "coll_data.hpp"

namespace photon::perf {

class CollOperation {
 public:
  // Prepares it, if that is how it is called: all members construct it in step.
  CollOperation(const Job& job, const CollData& data, CollCall call);
  CollOperation(const CollOperation&) = delete;
  CollOperation& operator=(const CollOperation&) = delete;
  ~CollOperation() { (void)ph_coll_free(prepared_); }

  // Until this member's part is over.
  void operate() {
    if (call_ == CollCall::run) {
      return job_->check(ph_coll_run(team_, &args_, PH_FOREVER), "running a collective operation");
    }
    post();
    wait();
  }
  // The two halves of it.
  void post() {
    job_->check(prepared_ != nullptr ? ph_coll_start(prepared_) : ph_coll_begin(team_, &args_),
                "beginning a collective operation");
  }
  void wait() {
    job_->check(ph_wait_request(job_->context(), &request_, nullptr, PH_FOREVER),
                "waiting for a collective operation");
  }

 private:
  const Job* job_;
  CollCall call_;
  ph_team* team_ = nullptr;
  ph_coll* prepared_ = nullptr;
  ph_request request_ = PH_REQUEST_NONE;
  ph_coll_args args_;
};

}  // namespace photon::perf
