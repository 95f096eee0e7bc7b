// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// A borrowed run of bytes: the text of a string or the contents of a binary value, read in place.
///
/// A view does not own its memory. Views that come out of a `Snapshot` are valid while that snapshot
/// is alive; views of constants are valid while the `ByteStorage` that made them is. Nothing keeps a
/// view beyond the read it belongs to: copy with `array` or `string` first.
///
/// `@unchecked Sendable`: the bytes of a view never change while it is valid, so any thread may read them.
@safe package struct ByteView: @unchecked Sendable {
    /// The first byte; nil only for a view of no bytes that points nowhere.
    @usableFromInline let start: UnsafePointer<UInt8>?
    /// The number of bytes.
    package let count: Int

    /// `count` bytes from `start`, which the caller keeps in memory and unchanged while the view is used.
    @inlinable init(start: UnsafePointer<UInt8>?, count: Int) {
        unsafe self.start = unsafe start
        self.count = count
    }

    /// A view of no bytes.
    package static let empty = unsafe ByteView(start: nil, count: 0)

    /// Whether there are no bytes.
    @inlinable package var isEmpty: Bool { count == 0 }

    /// The byte at `index`, which must be in `0..<count`.
    @inlinable package subscript(index: Int) -> UInt8 {
        precondition(index >= 0 && index < count, "byte index outside its view")
        // In bounds by the check above; `start` is only nil when `count` is 0.
        return unsafe start.unsafelyUnwrapped[index]
    }

    /// Calls `body` with a view of an array, valid during the call.
    ///
    /// For arrays that a function takes or makes: reading them as a view needs no copy. The view must not leave the closure.
    package static func withBytes<Result>(
        of array: [UInt8], _ body: (ByteView) throws(StorageError) -> Result
    ) throws(StorageError) -> Result {
        var failure: StorageError?
        let result = unsafe array.withUnsafeBufferPointer { buffer -> Result? in
            do throws(StorageError) {
                return unsafe try body(ByteView(start: buffer.baseAddress, count: buffer.count))
            } catch {
                failure = error
                return nil
            }
        }
        guard let result else { throw failure ?? .limit("no bytes") }
        return result
    }

    /// The bytes from `lower` on; bounds are clamped to the view.
    @inlinable package func suffix(from lower: Int) -> ByteView { slice(lower, count) }

    /// The bytes in `lower..<upper`, both clamped to the view.
    @inlinable package func slice(_ lower: Int, _ upper: Int) -> ByteView {
        let first = Swift.min(Swift.max(lower, 0), count)
        let last = Swift.min(Swift.max(upper, first), count)
        guard last > first, let start = unsafe start else { return .empty }
        return unsafe ByteView(start: start + first, count: last - first)
    }

    /// Calls `body` with the bytes. The buffer must not outlive the call.
    @inlinable package func withUnsafeBytes<Result>(_ body: (UnsafeRawBufferPointer) throws -> Result) rethrows -> Result {
        try unsafe body(UnsafeRawBufferPointer(start: start, count: count))
    }

    /// Calls `body` with the bytes as numbers. The buffer must not outlive the call.
    @inlinable package func withBuffer<Result>(_ body: (UnsafeBufferPointer<UInt8>) throws -> Result) rethrows -> Result {
        try unsafe body(UnsafeBufferPointer(start: start, count: count))
    }

    /// The first sixteen bytes as two big-endian numbers, which sort as the bytes do; missing ones are 0.
    @inlinable package var leadingBytes: (UInt64, UInt64) {
        guard let start = unsafe start, count > 0 else { return (0, 0) }
        let bytes = unsafe UnsafeRawPointer(start)
        // In bounds: eight bytes are loaded only from where eight are left.
        if count >= 8 {
            let high = unsafe UInt64(bigEndian: bytes.loadUnaligned(as: UInt64.self))
            guard count < 16 else {
                return unsafe (high, UInt64(bigEndian: bytes.loadUnaligned(fromByteOffset: 8, as: UInt64.self)))
            }
            let last = unsafe UInt64(bigEndian: bytes.loadUnaligned(fromByteOffset: count &- 8, as: UInt64.self))
            return (high, count == 8 ? 0 : last &<< UInt64(truncatingIfNeeded: (16 &- count) &* 8))
        }
        var high: UInt64 = 0
        for index in 0..<count { high = unsafe high &<< 8 | UInt64(start[index]) }
        return (high &<< UInt64(truncatingIfNeeded: (8 &- count) &* 8), 0)
    }

    /// A copy of the bytes.
    package var array: [UInt8] { unsafe Array(UnsafeBufferPointer(start: start, count: count)) }

    /// The bytes as text, or nil when they are not valid UTF-8.
    package var validatedString: String? {
        unsafe String(validating: UnsafeBufferPointer(start: start, count: count), as: UTF8.self)
    }

    /// The bytes as text; ill-formed sequences are replaced.
    package var string: String { unsafe String(decoding: UnsafeBufferPointer(start: start, count: count), as: UTF8.self) }
}

/// Views are equal when their bytes are, wherever these lie.
extension ByteView: Equatable, Hashable {
    /// Whether both views have the same bytes, wherever these are.
    @inlinable package static func == (left: ByteView, right: ByteView) -> Bool {
        guard left.count == right.count else { return false }
        guard left.count > 0 else { return true }
        return unsafe memcmp(left.start.unsafelyUnwrapped, right.start.unsafelyUnwrapped, left.count) == 0
    }

    /// Feeds the bytes to `hasher`.
    @inlinable package func hash(into hasher: inout Hasher) {
        unsafe hasher.combine(bytes: UnsafeRawBufferPointer(start: start, count: count))
    }
}

/// The order of bytes, which is also that of UTF-8 texts by code point.
extension ByteView: Comparable {
    /// Unsigned byte order; a proper prefix is smaller.
    @inlinable package static func < (left: ByteView, right: ByteView) -> Bool { left.compare(right) < 0 }

    /// Negative, zero or positive as this view sorts before, with or after `other`.
    @inlinable package func compare(_ other: ByteView) -> Int {
        let common = Swift.min(count, other.count)
        if common > 0 {
            let order = unsafe memcmp(start.unsafelyUnwrapped, other.start.unsafelyUnwrapped, common)
            if order != 0 { return Int(order) }
        }
        return count - other.count
    }
}
