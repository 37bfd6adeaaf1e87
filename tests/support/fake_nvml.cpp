// A stand-in for NVIDIA's libnvidia-ml.so.1: it knows one GPU, which is busier at each call and then lost.

namespace {
bool started = false;
unsigned calls = 0;
}  // namespace

extern "C" {
int nvmlInit_v2() {
  started = true;
  return 0;
}
int nvmlDeviceGetHandleByPciBusId_v2(const char* id, void** gpu) {
  const char* known = "0000:81:00.0";
  while (*known != 0 && *known == *id) ++known, ++id;
  if (!started || *known != *id) return 6;  // not found
  *gpu = &calls;
  return 0;
}
int nvmlDeviceGetUtilizationRates(void* gpu, unsigned* rates) {
  if (gpu != &calls || calls == 2) return 15;  // the GPU is lost
  rates[0] = 40 + 57 * calls++;                // kernels, in per cent
  rates[1] = 3;                                // memory
  return 0;
}
}
