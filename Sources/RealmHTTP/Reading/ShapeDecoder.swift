// SPDX-License-Identifier: Apache-2.0

internal import RealmQuery

/// Reads the shapes that arguments may be.
enum ShapeDecoder {
    static func shape(_ name: String, _ value: JSONValue) -> QueryArgument? { nil }
}
