// refused: static assertion failed: attn: decoding: a model starts with  State start
#include "attn/run/cpu_models.hpp"
#include "attn/transformer.hpp"

using Device = attn::Cpu<float>;

struct Model : attn::Transformer<Device> {
  using Transformer::Transformer;
#ifdef ATTN_REFUSED
  void start() const;
#endif
};

void add(attn::ModelRegistry& registry) { registry.add<Model>("mine"); }
