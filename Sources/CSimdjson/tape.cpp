// SPDX-License-Identifier: Apache-2.0

// Errors are codes; what throws is left out of the header.
#define SIMDJSON_EXCEPTIONS 0

#include "tape.h"
#include <atomic>
#include <cstring>
#include <memory>
#include <new>
#include <simdjson.h>

/// The length of texts that a kept parser can read. Longer ones are rare, and fifteen times their length is too much to keep.
static constexpr size_t kept_length = 64 << 10;
static constexpr size_t depth_limit = 1000;
static constexpr size_t slot_count = 8;

struct realm_rest_tape_parser
{
  simdjson::dom::parser parser;
  /// A copy of the text. The library reads beyond the end of a text, so there has to be room.
  std::unique_ptr<uint8_t[]> text;
  size_t capacity;
};

/// Unused parsers, each on a cache line of its own.
struct alignas (64) slot
{
  std::atomic<realm_rest_tape_parser *> parser;
};
static slot slots[slot_count];

/// Where the calling thread found a parser or a free place last, so that threads do not meet at the same place.
static thread_local unsigned int last_slot;

static realm_rest_tape_parser *
make (size_t capacity) noexcept
{
  std::unique_ptr<realm_rest_tape_parser> made (new (std::nothrow) realm_rest_tape_parser);
  if (!made)
    return nullptr;
  made->capacity = capacity;
  made->text.reset (new (std::nothrow) uint8_t[capacity + simdjson::SIMDJSON_PADDING]);
  if (!made->text || made->parser.allocate (capacity, depth_limit) || made->parser.doc.allocate (capacity))
    return nullptr;
  return made.release ();
}

realm_rest_tape_parser *
realm_rest_tape_take (size_t length)
{
  if (length > kept_length)
    return make (length);
  for (unsigned int step = 0; step < slot_count; step++)
    {
      unsigned int number = (last_slot + step) % slot_count;
      if (slots[number].parser.load (std::memory_order_relaxed) == nullptr)
        continue;
      realm_rest_tape_parser *found = slots[number].parser.exchange (nullptr, std::memory_order_acquire);
      if (found == nullptr)
        continue;
      last_slot = number;
      return found;
    }
  return make (kept_length);
}

void
realm_rest_tape_give (realm_rest_tape_parser *parser)
{
  for (unsigned int step = 0; parser->capacity == kept_length && step < slot_count; step++)
    {
      unsigned int number = (last_slot + step) % slot_count;
      realm_rest_tape_parser *none = nullptr;
      if (!slots[number].parser.compare_exchange_strong (none, parser, std::memory_order_release, std::memory_order_relaxed))
        continue;
      last_slot = number;
      return;
    }
  delete parser;
}

const uint64_t *
realm_rest_tape_read (realm_rest_tape_parser *parser, const uint8_t *bytes, size_t length)
{
  if (length > parser->capacity)
    return nullptr;
  std::memcpy (parser->text.get (), bytes, length);
  std::memset (parser->text.get () + length, 0, simdjson::SIMDJSON_PADDING);
  if (parser->parser.parse (parser->text.get (), length, false).error () != simdjson::SUCCESS)
    return nullptr;
  return parser->parser.doc.tape.get ();
}

const uint8_t *
realm_rest_tape_strings (const realm_rest_tape_parser *parser)
{
  return parser->parser.doc.string_buf.get ();
}
