// SPDX-License-Identifier: Apache-2.0

internal import RealmFormats
internal import RealmPlatform
internal import RealmStorage

/// The place of the audit log, and the handling of failures.
package struct AuditOptions: Sendable, Equatable {
    /// The path of the file; nil for no audit log.
    package var file: String?
    /// Whether nothing is done that has to be recorded while it cannot be recorded.
    package var isRequired = false
    /// The size in bytes from which the file gets another name and a new one begins; 0 for never.
    package var rotationBytes = 64 << 20
    /// The number of rotated files that are kept.
    package var keptCount = 8

    /// The number of waiting bytes from which on requests that have to be recorded are refused, if the log is required.
    ///
    /// Requests that have begun by then find room for their lines. No setting changes it.
    package var refusingByteCount = 16 << 20

    /// The sizes that a file may have before a new one begins.
    package static let rotationRange = 4096...(1 << 40)
    /// The numbers of files that may be kept.
    package static let keptRange = 1...1000

    /// Makes the options of a server without an audit log.
    package init() {}
}
