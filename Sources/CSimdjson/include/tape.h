// SPDX-License-Identifier: Apache-2.0

/// JSON as simdjson reads it: a tape of words and the bytes of its strings, both in memory of the parser, so that a reader
/// walks over the values without a call for each. The form of the tape is that of the library's DOM (doc/tape.md there).
///
/// It is in C++ because the library is. No exception leaves it.
#ifndef REALM_REST_TAPE_H
#define REALM_REST_TAPE_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/// A parser with its memory: some 15 bytes for each byte of the longest text that it can read. One thread at a time may use it.
typedef struct realm_rest_tape_parser realm_rest_tape_parser;

/// Takes a parser for a text of this many bytes: one that was given back, or a new one. NULL when there is no memory for it.
realm_rest_tape_parser *realm_rest_tape_take (size_t length);

/// Gives a parser back, and with it the tape that it made. A few parsers for texts up to 64 KiB are kept; others are freed.
void realm_rest_tape_give (realm_rest_tape_parser *parser);

/// Reads a text and returns its tape, valid until the parser reads another one or is given back. NULL for a text that the library
/// refuses, among them all that is no JSON, nests arrays and objects more than 1,000 deep, or is longer than the parser is for.
const uint64_t *realm_rest_tape_read (realm_rest_tape_parser *parser, const uint8_t *bytes, size_t length);

/// The bytes of the strings on the tape, each behind its length as a number of 32 bits. At least 16 bytes follow the last one.
const uint8_t *realm_rest_tape_strings (const realm_rest_tape_parser *parser);

#ifdef __cplusplus
}
#endif

#endif
