#pragma once
#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "attn/core/batch.hpp"
#include "attn/core/error.hpp"
#include "attn/data/batches.hpp"

namespace attn {

/// Which batches are a process's own, where several learn together: of so many in a row, the one at `rank`.
struct BatchShare {
  Index rank = 0, ranks = 1;
};

/// Makes the next batches on a thread of its own while the device computes: the same batches in the same order. Epochs follow
/// each other without a pause: the first batches of the next one are made while the last ones of this are learnt from. With a
/// depth of 0 there is no thread, and a batch is made when it is asked for. The Batches belong to it while it lives, and then
/// stand where it stood.
class Prefetch {
 public:
  /// From `position` on; `depth`: how many batches of its share may be ready.
  Prefetch(Batches& batches, Batches::Position position, Index depth, BatchShare share = {})
      : batches_(batches),
        position_(position),
        share_(share),
        ready_(static_cast<std::size_t>(std::max<Index>(depth, 0) * share.ranks)) {
    require(depth >= 0, "Prefetch: a depth of ", depth, " is less than 0");
    require(share.rank >= 0 && share.rank < share.ranks, "Prefetch: rank ", share.rank, " is not one of ", share.ranks);
    batches_.seek(position);
    if (depth > 0) thread_ = std::thread([this] { make(); });
  }
  Prefetch(const Prefetch&) = delete;
  ~Prefetch() {
    {
      const std::lock_guard lock(mutex_);
      stop_ = true;
    }
    changed_.notify_all();
    if (thread_.joinable()) thread_.join();
    try {
      batches_.seek(position_);
    } catch (...) {  // out of memory: they stand where the thread was
    }
  }

  /// The next batch of the epoch, or false at its end. One that is not of its share has its size alone. What was wrong while
  /// a batch was made is thrown where it is asked for.
  bool next(Batch& batch) {
    if (ended_) return false;
    const auto start = std::chrono::steady_clock::now();
    ended_ = !(ready_.empty() ? make_one(batch, size_) : take(batch));
    seconds_waited_ += std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    if (!ended_) ++position_.batch;
    return !ended_;
  }

  /// Goes on with the next epoch, at the end of one.
  void next_epoch() {
    require(ended_, "Prefetch: epoch ", position_.epoch, " has batches left; ask for them first");
    position_ = {position_.epoch + 1, 0};
    ended_ = false;
  }

  /// Of the batch that next() gave.
  const BatchSize& size() const { return size_; }

  /// Of the batch that next() will give.
  Batches::Position position() const { return position_; }

  /// How long next() has taken, in all: time that the device may have stood idle.
  double seconds_waited() const { return seconds_waited_; }

 private:
  struct Place {
    Batch batch;
    BatchSize size;
    bool more = false;  // false: the epoch has ended, and there is no batch
    std::exception_ptr failure;
  };

  /// Makes a batch; false once at the end of each epoch, which is known before the next one is arranged.
  bool make_one(Batch& batch, BatchSize& size) {
    if (epoch_is_over_) batches_.start_epoch(batches_.position().epoch + 1), dealt_ = 0;
    epoch_is_over_ = false;
    size = batches_.next_size();
    epoch_is_over_ = batches_.position().batch == batches_.batches_per_epoch();
    if (epoch_is_over_) return false;
    if (dealt_++ % share_.ranks == share_.rank)
      batches_.next(batch);
    else
      batches_.skip(), batch.clear();
    return true;
  }

  bool take(Batch& batch) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return made_ > taken_; });
    Place& place = ready_[taken_ % ready_.size()];
    if (place.failure) std::rethrow_exception(place.failure);
    std::swap(batch, place.batch);  // its memory is used again
    size_ = place.size;
    const bool more = place.more;
    ++taken_;
    lock.unlock();
    changed_.notify_all();
    return more;
  }

  void make() {
    while (true) {
      Place* place = nullptr;
      {
        std::unique_lock lock(mutex_);
        changed_.wait(lock, [this] { return stop_ || made_ - taken_ < ready_.size(); });
        if (stop_) return;
        place = &ready_[made_ % ready_.size()];  // free: nobody else looks at it until it is made
      }
      try {
        place->more = make_one(place->batch, place->size);
      } catch (...) {
        place->failure = std::current_exception();
      }
      {
        const std::lock_guard lock(mutex_);
        ++made_;
        if (place->failure) stop_ = true;  // nothing comes after it
      }
      changed_.notify_all();
    }
  }

  Batches& batches_;
  Batches::Position position_;
  BatchShare share_;
  BatchSize size_;              // of the batch that next() gave
  Index dealt_ = 0;             // batches of this epoch, for make_one()
  bool ended_ = false;          // the epoch, for next()
  bool epoch_is_over_ = false;  // for make_one()
  double seconds_waited_ = 0;
  std::vector<Place> ready_;  // a ring
  std::size_t made_ = 0, taken_ = 0;
  bool stop_ = false;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::thread thread_;
};

}  // namespace attn
