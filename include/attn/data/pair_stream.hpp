#pragma once
#include <system_error>

#include "attn/data/pair_rules.hpp"
#include "attn/data/parallel_text.hpp"

namespace attn {

/// The files of a text, and the rules for reading it.
struct PairText {
  std::vector<PairFiles> files;
  UnequalLines unequal = UnequalLines::refuse;
  PairRules rules = {};
};

/// Reads the pairs of a text that pass its rules, file by file, in blocks. Memory use does not grow with the text.
class PairStream {
 public:
  explicit PairStream(PairText text) : text_(std::move(text)), filter_(text_.rules) {}

  /// The next `most` pairs; fewer at the end, then none.
  ParallelText next(Index most) {
    ParallelText block;
    std::string source, target;
    while (static_cast<Index>(block.source.size()) < most) {
      if (!reader_) {
        if (file_ == text_.files.size()) break;
        reader_ = std::make_unique<PairReader>(text_.files[file_++], text_.unequal);
      }
      if (!reader_->next(source, target)) {
        unpaired_ += reader_->unpaired();
        reader_.reset();
        continue;
      }
      if (!filter_.keep(source, target, [&] { return reader_->where(); })) continue;
      block.source.push_back(source);
      block.target.push_back(target);
    }
    return block;
  }

  const RuleCounts& counts() const { return filter_.counts(); }
  Index unpaired() const { return unpaired_; }

  /// The fraction of the files read so far, by size: 0 to 1. A compressed file in progress counts as half read.
  double begun() const {
    double all = 0, done = 0;
    for (std::size_t i = 0; i < text_.files.size(); ++i) {
      std::error_code ignored;
      const auto size = static_cast<double>(std::filesystem::file_size(text_.files[i].source, ignored));
      if (ignored) continue;
      all += size;
      if (i + 1 == file_ && reader_)
        done += reader_->bytes() ? std::min(static_cast<double>(*reader_->bytes()), size) : size / 2;
      else if (i < file_)
        done += size;
    }
    return all == 0 ? 0 : done / all;
  }

 private:
  PairText text_;
  PairFilter filter_;
  std::unique_ptr<PairReader> reader_;
  std::size_t file_ = 0;  // the next to open
  Index unpaired_ = 0;
};

}  // namespace attn
