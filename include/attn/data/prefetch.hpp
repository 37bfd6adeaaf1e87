#pragma once
#include <condition_variable>

#include "attn/data/batches.hpp"

namespace attn {

/// The batches of one process in data-parallel training: every batch whose index modulo `ranks` is `rank`.
struct BatchShare {
  Index rank = 0, ranks = 1;
};

/// Prepares batches on a background thread while the device computes, in the same order as Batches. Starts the next epoch
/// early, so there is no pause between epochs. With a depth of 0 there is no thread, and next() prepares the batch. Owns
/// the position of the Batches during its lifetime; the destructor moves them to its own position.
class Prefetch {
 public:
  /// Starts at `position`. `depth` is the number of this rank's batches to prepare ahead.
  Prefetch(Batches& batches, Batches::Position position, Index depth, BatchShare share = {})
      : batches_(batches),
        position_(position),
        share_(share),
        ready_(static_cast<std::size_t>(std::max<Index>(depth, 0) * share.ranks)) {
    require(depth >= 0, "Prefetch: depth is ", depth, ", but must be at least 0");
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
    } catch (...) {  // out of memory: keep the thread's position
    }
  }

  /// The next batch of the epoch, or false at its end. For a batch of another rank, only size() is set. Rethrows an error
  /// from preparing the batch.
  bool next(Batch& batch) {
    if (ended_) return false;
    const auto start = std::chrono::steady_clock::now();
    ended_ = !(ready_.empty() ? make_one(batch, size_) : take(batch));
    seconds_waited_ += std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    if (!ended_) ++position_.batch;
    return !ended_;
  }

  /// Moves to the next epoch. Call it only at the end of one.
  void next_epoch() {
    require(ended_, "Prefetch: epoch ", position_.epoch, " has batches left; call next() until it returns false");
    position_ = {position_.epoch + 1, 0};
    ended_ = false;
  }

  /// The size of the batch that next() returned.
  const BatchSize& size() const { return size_; }

  /// The position of the batch that next() will return.
  Batches::Position position() const { return position_; }

  /// Total time spent in next(), when the device may have been idle.
  double seconds_waited() const { return seconds_waited_; }

 private:
  struct Place {
    Batch batch;
    BatchSize size;
    bool more = false;  // false: end of the epoch, no batch
    std::exception_ptr failure;
  };

  /// Prepares a batch; false once at the end of each epoch, before the next epoch is shuffled.
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
    std::swap(batch, place.batch);  // reuses its memory
    size_ = place.size;
    ++taken_;
    changed_.notify_all();
    return place.more;
  }

  void make() {
    for (std::unique_lock lock(mutex_);;) {
      changed_.wait(lock, [this] { return stop_ || made_ - taken_ < ready_.size(); });
      if (stop_) return;
      Place& place = ready_[made_ % ready_.size()];  // only this thread accesses it until made_ is incremented
      lock.unlock();
      try {
        place.more = make_one(place.batch, place.size);
      } catch (...) {
        place.failure = std::current_exception();
      }
      lock.lock();
      ++made_;
      if (place.failure) stop_ = true;
      changed_.notify_all();
    }
  }

  Batches& batches_;
  Batches::Position position_;
  BatchShare share_;
  BatchSize size_;              // of the batch that next() returned
  Index dealt_ = 0;             // batches of this epoch so far, for make_one()
  bool ended_ = false;          // epoch ended, for next()
  bool epoch_is_over_ = false;  // epoch ended, for make_one()
  double seconds_waited_ = 0;
  std::vector<Place> ready_;  // ring buffer
  std::size_t made_ = 0, taken_ = 0;
  bool stop_ = false;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::thread thread_;
};

}  // namespace attn
