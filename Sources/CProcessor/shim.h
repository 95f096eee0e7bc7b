#ifndef REALM_REST_CPROCESSOR_SHIM_H
#define REALM_REST_CPROCESSOR_SHIM_H
/* Instructions that Swift has no words for, each with a fallback in plain C. */
#include <stdint.h>
#if defined(__SSE2__)
#include <emmintrin.h>
#endif

/* Asks for the cache line of an address that will be read soon. Any address will do: it is not accessed. */
static inline void realm_rest_prefetch(const void *address) { __builtin_prefetch(address, 0, 3); }

typedef signed char realm_rest_lanes __attribute__((__ext_vector_type__(16)));

/* The sign bits of sixteen lanes, that of the first lane lowest. */
static inline uint32_t realm_rest_signs(realm_rest_lanes lanes) {
#if defined(__SSE2__)
    return (uint32_t)_mm_movemask_epi8((__m128i)lanes);
#else
    uint32_t signs = 0;
    for (int lane = 0; lane < 16; lane++) signs |= (uint32_t)(lanes[lane] < 0) << lane;
    return signs;
#endif
}

/* Which of 64 readable bytes are one of two; the bit of the first byte is the lowest. */
static inline uint64_t realm_rest_find(const uint8_t *bytes, uint8_t one, uint8_t other) {
    uint64_t found = 0;
#if defined(__SSE2__)
    const __m128i ones = _mm_set1_epi8((char)one), others = _mm_set1_epi8((char)other);
    for (int group = 0; group < 4; group++) {
        const __m128i lanes = _mm_loadu_si128((const __m128i *)(bytes + 16 * group));
        const __m128i equal = _mm_or_si128(_mm_cmpeq_epi8(lanes, ones), _mm_cmpeq_epi8(lanes, others));
        found |= (uint64_t)(uint32_t)_mm_movemask_epi8(equal) << (16 * group);
    }
#else
    for (int index = 0; index < 64; index++) {
        found |= (uint64_t)(bytes[index] == one || bytes[index] == other) << index;
    }
#endif
    return found;
}
#endif
