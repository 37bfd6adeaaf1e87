#pragma once

// Detects the sanitizer of this build: ATTN_TEST_ADDRESSES, ATTN_TEST_THREADS, or none. g++ defines macros, clang has
// features.

#ifdef __has_feature
#define ATTN_TEST_FEATURE(name) __has_feature(name)
#else
#define ATTN_TEST_FEATURE(name) 0
#endif

#if defined(__SANITIZE_ADDRESS__) || ATTN_TEST_FEATURE(address_sanitizer)
#define ATTN_TEST_ADDRESSES
#endif
#if defined(__SANITIZE_THREAD__) || ATTN_TEST_FEATURE(thread_sanitizer)
#define ATTN_TEST_THREADS
#endif

#if defined(ATTN_TEST_ADDRESSES) || defined(ATTN_TEST_THREADS)
inline constexpr bool kSanitized = true;
#else
inline constexpr bool kSanitized = false;
#endif
