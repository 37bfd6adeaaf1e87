#include "attn/models/active_rows.hpp"

#include <doctest/doctest.h>

#include "attn/cpu.hpp"
#include "support/tensor.hpp"

using namespace attn;
using D = Cpu<double>;

namespace {

using Numbers32 = std::vector<std::int32_t>;

/// The lists of these sentences.
Numbers32 listed(const DecoderSources& sources, const std::vector<Index>& sentences) {
  Numbers32 lists;
  sources.list(sentences, lists);
  return lists;
}

}  // namespace

TEST_CASE("decoder sources: layers with different numbers of source rows have separate lists") {
  D device(1);
  const Layout<D> three(device, {3}), five(device, {5});
  DecoderSources sources;
  sources.add(device, three);
  sources.add(device, five);
  const Numbers32 lists = listed(sources, {0});
  CHECK(lists == Numbers32{0, 3, 0, 5});
  sources.place(std::vector<Index>{0}, lists.data());
  CHECK(sources[0].rows == 3);
  CHECK(sources[0].length(0) == 3);
  CHECK(sources[1].rows == 5);
  CHECK(sources[1].length(0) == 5);
}

TEST_CASE("decoder sources: layers with the same source rows share one list of active sentences") {
  D device(1);
  const Layout<D> rows(device, {2, 0, 4}), same(device, {2, 0, 4});
  DecoderSources sources;
  for (const Layout<D>* layer : {&rows, &rows, &same}) sources.add(device, *layer);
  const std::vector<Index> active{2, 0, 2};
  const Numbers32 lists = listed(sources, active);
  CHECK(lists == Numbers32{2, 0, 2, 6, 2, 6});
  sources.place(active, lists.data());
  for (const std::size_t layer : {0U, 1U, 2U}) {
    CHECK(sources[layer].begin == lists.data());
    CHECK(sources[layer].count == 3);
    CHECK(sources[layer].rows == 10);
    CHECK(sources[layer].longest == 4);
  }
}
