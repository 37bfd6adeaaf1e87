#pragma once
#include "attn/attention/global.hpp"
#include "device.hpp"

// A score of global attention: q · k of queries and keys as they are. Each part can be left out.

struct Score {
#ifndef WITHOUT_WIDTHS
  static constexpr bool equal_widths = true;
#endif
#ifndef WITHOUT_LAYER
  template <class Device, int Query, int Key>
  struct Layer {
#ifndef WITHOUT_WIDTH
    static constexpr int width = Key;
#endif
#ifndef WITHOUT_QUERY
    attn::Variable<Device, Key> query(attn::Variable<Device, Query> q) const { return q; }
#endif
#ifndef WITHOUT_KEY
    attn::Variable<Device, Key> key(attn::Variable<Device, Key> k) const { return k; }
#endif
#ifndef WITHOUT_CALL
    template <int Value>
    attn::Variable<Device, Value> operator()(attn::Variable<Device, Key> queries, attn::Ragged rows,
                                             attn::KeysValues<Device, Key, Value> memory, bool causal) const {
      return attn::attention<Device>(queries, rows, memory, {.causal = causal});
    }
#endif
#ifndef WITHOUT_PARAMETERS
    void for_each_parameter(auto&&) {}
#endif
  };
#endif
};

attn::GlobalAttention<Device, 8, 8, Score> layer;
