// The spare keeps what each part has saved, and takes over the part of a rank that is lost.
#pragma once

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <memory>

#include "part.hpp"

namespace rewind_example {

class Spare {
 public:
  Spare(ph_context* context, const Options& options) : context_(context), options_(options) {
    places_.resize(options.parts);
    for (std::uint32_t part = 0; part < options.parts; ++part) {
      places_[part].rank = part;
      saved_.push_back(std::make_unique<History>(
          context, kSaved + part, options.cells * sizeof(double), 1, options.kept()));
    }
  }

  // True: all steps of all parts are saved.
  bool take(const ph_mailbox_event& event) {
    if (event.address < kSaved)
      own_part_->take(event);
    else
      saved_[event.address - kSaved]->take(event);
    return last_common() == options_.steps + 1;
  }
  void hear(const News& news) {
    places_[news.part].incarnation = news.place.incarnation;
    refused_ += news.refused;
    if (++ready_ == options_.parts) say_go();
  }

  // The ranks of parts are looked at while there is no other news.
  void look() {
    for (std::uint32_t part = 0; part < options_.parts; ++part)
      if (places_[part].rank == part && is_lost(context_, part)) take_over(part);
  }

  void tell_all(const News& news) {
    for (const Place& place : places_)
      if (place.rank != options_.parts && !is_lost(context_, place.rank))
        tell(context_, place.rank, news);
  }

  // Each cell to the bit.
  void finish() {
    std::uint64_t sum = 0xcbf2'9ce4'8422'2325;
    std::ofstream file;
    if (!options_.output.empty()) file.open(options_.output, std::ios::binary);
    for (const auto& one : saved_) {
      const auto* const bytes = static_cast<const char*>(one->at(options_.steps));
      const std::size_t count = options_.cells * sizeof(double);
      for (std::size_t i = 0; i < count; ++i)
        sum = (sum ^ static_cast<unsigned char>(bytes[i])) * 0x100'0000'01b3;
      if (file.is_open()) file.write(bytes, static_cast<std::streamsize>(count));
    }
    if (!options_.output.empty() && !file.flush())
      throw std::runtime_error("cannot write " + options_.output);
    std::printf("rewind: %u parts of %llu cells, %llu steps, check sum %016llx\n", options_.parts,
                static_cast<unsigned long long>(options_.cells),
                static_cast<unsigned long long>(options_.steps),
                static_cast<unsigned long long>(sum));
  }

 private:
  // Steps that all parts have saved.
  std::uint64_t last_common() const {
    std::uint64_t least = UINT64_MAX;
    for (const auto& one : saved_) least = std::min(least, one->complete());
    return least;
  }

  void take_over(std::uint32_t lost) {
    const std::uint64_t steps = last_common();
    if (own_part_ != nullptr || steps == 0) {
      News news;
      news.kind = News::failed;
      places_[lost].rank = options_.parts;
      tell_all(news);
      throw std::runtime_error("rank " + std::to_string(lost) +
                               " was lost, too, and there is no other spare");
    }
    const std::uint64_t step = steps - 1;
    std::printf("rewind: rank %u was lost; all go on from step %llu\n", lost,
                static_cast<unsigned long long>(step));
    for (const auto& one : saved_) one->rewind(step);
    own_part_ = std::make_unique<Part>(context_, options_, lost, step, saved_[lost]->at(step));
    places_[lost].rank = ph_rank_of(context_);
    ready_ = 0;
    News news;
    news.kind = News::rewind;
    news.step = step;
    tell_all(news);
    hear(own_part_->ready());
  }

  void say_go() {
    const std::uint32_t parts = options_.parts;
    News own;
    for (std::uint32_t part = 0; part < parts; ++part) {
      News news;
      news.kind = News::go;
      news.left = places_[(part + parts - 1) % parts];
      news.right = places_[(part + 1) % parts];
      news.saved = saved_[part]->incarnation();
      if (places_[part].rank == ph_rank_of(context_))
        own = news;
      else
        tell(context_, places_[part].rank, news);
    }
    if (own_part_ == nullptr) {
      check(ph_barrier(context_), "barrier");  // all have saved the initial state
      return;
    }
    std::printf("rewind: %llu messages of the lost past were refused\n",
                static_cast<unsigned long long>(refused_));
    own_part_->go(own);
  }

  ph_context* const context_;
  const Options& options_;
  std::vector<std::unique_ptr<History>> saved_;
  std::vector<Place> places_;
  std::uint32_t ready_ = 0;
  std::uint64_t refused_ = 0;
  std::unique_ptr<Part> own_part_;
};

}  // namespace rewind_example
