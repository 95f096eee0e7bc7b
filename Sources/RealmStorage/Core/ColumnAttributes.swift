// SPDX-License-Identifier: Apache-2.0

/// The attribute bits of a column in the spec.
package struct ColumnAttributes: OptionSet, Sendable, Hashable {
    package let rawValue: Int
    package init(rawValue: Int) { self.rawValue = rawValue }

    package static let indexed = ColumnAttributes(rawValue: 1)
    package static let unique = ColumnAttributes(rawValue: 2)
    package static let nullable = ColumnAttributes(rawValue: 16)
    package static let list = ColumnAttributes(rawValue: 32)
    package static let dictionary = ColumnAttributes(rawValue: 64)
    package static let set = ColumnAttributes(rawValue: 128)
    package static let fullText = ColumnAttributes(rawValue: 256)
}
