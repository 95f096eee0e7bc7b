// SPDX-License-Identifier: Apache-2.0

package import RealmPlatform

/// One commit as something that can be done again: the bytes that it wrote, in their places, and the byte that selects its
/// version at last.
///
/// A file that has the version before, byte by byte, becomes one with the version of the record. The bytes lie where the version
/// before uses nothing, so a copy can be cut off at any moment while it takes them over. A record that was made from two states
/// which are several versions apart does not have this property: `keepsPreviousVersion` is false, and it is applied only to files
/// without readers.
package struct CommitRecord: Sendable, Equatable {
    /// Bytes that were written one after another.
    package struct Extent: Sendable, Equatable {
        /// Their place in the file.
        package let offset: Int
        package let bytes: [UInt8]

        /// Makes an extent.
        package init(offset: Int, bytes: [UInt8]) {
            self.offset = offset
            self.bytes = bytes
        }
    }

    /// The change of the byte that selects a slot of the header.
    package struct Flip: Sendable, Equatable {
        /// The byte before the commit.
        package let old: UInt8
        /// The byte after it.
        package let new: UInt8
        /// Where the byte is.
        package static let offset = 23

        /// Makes a change.
        package init(old: UInt8, new: UInt8) {
            self.old = old
            self.new = new
        }

        /// The slot of the header that the commit filled.
        package var slot: Int { Int(new & 1) }
    }

    /// The number of the version that the commit made.
    package let version: UInt64
    /// The number of the version that it started from.
    package let previousVersion: UInt64
    /// When the commit was made, in nanoseconds since 1970-01-01 UTC.
    package let time: Int64
    /// The newest version whose nodes the commit may have overwritten.
    package let horizon: UInt64
    /// The logical size of the new version in bytes.
    package let logicalSize: Int
    /// The size of the file in bytes.
    package let physicalSize: Int
    /// The top node of the new version.
    package let topRef: Ref
    /// The change that makes the new version the one of the file.
    package let flip: Flip
    /// The bytes written before that, the header slot included, in the order of writing.
    package let extents: [Extent]
    /// Whether the bytes were too many to be kept: the record has none, and readers of the version copy the file.
    package let isWithoutBytes: Bool
    /// Whether the notes have everything that the commit did.
    package let hasNotes: Bool
    package let notes: CommitNotes

    /// The number of bytes in all extents.
    package var byteCount: Int { extents.reduce(0) { $0 + $1.bytes.count } }

    /// Whether nothing was overwritten that the version before uses, so that readers of that version are not disturbed.
    package var keepsPreviousVersion: Bool { horizon < previousVersion }

    /// Makes a record.
    ///
    /// - Parameters:
    ///   - version: The number of the version that the commit made.
    ///   - previousVersion: The number of the version that it started from.
    ///   - time: When the commit was made, in nanoseconds since 1970-01-01 UTC.
    ///   - horizon: The newest version whose nodes the commit may have overwritten.
    ///   - physicalSize: The size of the file.
    ///   - topRef: The top node of the new version.
    ///   - flip: The change that makes it the one of the file.
    ///   - extents: The bytes written before that; nil when they were too many to keep.
    ///   - notes: The notes of the commit; nil when unknown.
    package init(
        version: UInt64, previousVersion: UInt64, time: Int64, horizon: UInt64, logicalSize: Int, physicalSize: Int,
        topRef: Ref, flip: Flip, extents: [Extent]?, notes: CommitNotes?
    ) {
        self.version = version
        self.previousVersion = previousVersion
        self.time = time
        self.horizon = horizon
        self.logicalSize = logicalSize
        self.physicalSize = physicalSize
        self.topRef = topRef
        self.flip = flip
        self.extents = extents ?? []
        isWithoutBytes = extents == nil
        hasNotes = notes != nil
        self.notes = notes ?? CommitNotes()
    }
}
