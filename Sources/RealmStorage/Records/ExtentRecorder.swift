// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform

/// Collects what a commit writes to its file.
struct ExtentRecorder {
    /// The extents so far; nil when they have become too many bytes.
    private(set) var extents: [CommitRecord.Extent]? = []
    private var byteCount = 0
    /// The greatest number of bytes that is kept.
    private let limit: Int

    /// Makes a recorder that keeps at most `limit` bytes.
    init(limit: Int) { self.limit = limit }

    /// Adds a copy of bytes that were written.
    mutating func add(_ bytes: ByteView, at offset: Int) {
        guard extents != nil, !bytes.isEmpty else { return }
        byteCount += bytes.count
        guard byteCount <= limit else {
            extents = nil
            return
        }
        extents?.append(CommitRecord.Extent(offset: offset, bytes: bytes.array))
    }
}
