#ifndef REALM_REST_CPROCESSOR_SHIM_H
#define REALM_REST_CPROCESSOR_SHIM_H
/* Instructions that Swift has no words for, each with a fallback in plain C. */
#include <stdint.h>

/* Asks for the cache line of an address that will be read soon. Any address will do: it is not accessed. */
static inline void realm_rest_prefetch(const void *address) { __builtin_prefetch(address, 0, 3); }

typedef signed char realm_rest_lanes __attribute__((__ext_vector_type__(16)));
/* As the instructions name it. The compiler's own header for them is left out: as a module it claims types of the C
   library, which Swift files then have to import from there. */
typedef char realm_rest_bytes __attribute__((__vector_size__(16)));

/* Sixteen bytes as other lanes, in the types of the instructions. */
typedef int realm_rest_fours __attribute__((__vector_size__(16)));
typedef short realm_rest_words __attribute__((__vector_size__(16)));
typedef float realm_rest_reals __attribute__((__vector_size__(16)));

/* The sign bits of sixteen lanes, that of the first lane lowest. */
static inline uint32_t realm_rest_signs(realm_rest_lanes lanes) {
#if defined(__SSE2__)
    return (uint32_t)__builtin_ia32_pmovmskb128((realm_rest_bytes)lanes);
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
    for (int group = 0; group < 4; group++) {
        realm_rest_bytes lanes;
        __builtin_memcpy(&lanes, bytes + 16 * group, 16);
        const realm_rest_bytes equal = (realm_rest_bytes)((lanes == (char)one) | (lanes == (char)other));
        found |= (uint64_t)(uint32_t)__builtin_ia32_pmovmskb128(equal) << (16 * group);
    }
#else
    for (int index = 0; index < 64; index++) {
        found |= (uint64_t)(bytes[index] == one || bytes[index] == other) << index;
    }
#endif
    return found;
}

/* Which of 64 readable cells of sixteen bytes have the eight bytes of one word and then those of another; the bit of the
   first cell is the lowest. */
static inline uint64_t realm_rest_find_cells(const uint8_t *cells, uint64_t first, uint64_t second) {
    uint64_t found = 0;
#if defined(__SSE2__)
    const uint64_t words[2] = {first, second};
    realm_rest_fours needle;
    __builtin_memcpy(&needle, words, 16);
    for (int group = 0; group < 16; group++) {
        realm_rest_fours lanes[4];
        __builtin_memcpy(lanes, cells + 64 * group, 64);
        /* Each compare has four lanes for a cell. Packed twice, a cell is four bytes, that is one lane again. */
        const realm_rest_words low = __builtin_ia32_packssdw128(lanes[0] == needle, lanes[1] == needle);
        const realm_rest_words high = __builtin_ia32_packssdw128(lanes[2] == needle, lanes[3] == needle);
        const realm_rest_fours equal = (realm_rest_fours)__builtin_ia32_packsswb128(low, high) == -1;
        found |= (uint64_t)(uint32_t)__builtin_ia32_movmskps((realm_rest_reals)equal) << (4 * group);
    }
#else
    for (int index = 0; index < 64; index++) {
        uint64_t words[2];
        __builtin_memcpy(words, cells + 16 * index, 16);
        found |= (uint64_t)(words[0] == first && words[1] == second) << index;
    }
#endif
    return found;
}
#endif
