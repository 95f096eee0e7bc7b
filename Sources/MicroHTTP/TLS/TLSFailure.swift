// SPDX-License-Identifier: Apache-2.0

internal import RealmFormats
internal import RealmPlatform
internal import RealmStorage

/// The reason why certificates cannot be used.
package struct TLSFailure: Error, Equatable, CustomStringConvertible {
    /// A sentence for the operator, which names the file.
    package let description: String

    /// Makes a failure from a sentence.
    package init(description: String) { self.description = description }
}
