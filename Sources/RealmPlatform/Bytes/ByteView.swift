// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// A borrowed run of bytes: the text of a string or the contents of a binary value, read in place.
///
/// A view does not own its memory. Views of values in a `Snapshot` are valid while that snapshot is
/// alive; views of constants are valid while the `ByteStorage` that made them is. A view must not
/// be kept longer than the read it belongs to: copy with `array` or `string` first.
///
/// `@unchecked Sendable`: the bytes of a view never change while it is valid, so any thread may read them.
@safe package struct ByteView: @unchecked Sendable {
    /// The first byte; nil only for a view of no bytes that has no address.
    @usableFromInline package let start: UnsafePointer<UInt8>?
    package let count: Int

    /// Makes a view of `count` bytes from `start` on, which the caller keeps in memory and unchanged while the view is used.
    @inlinable package init(start: UnsafePointer<UInt8>?, count: Int) {
        unsafe self.start = unsafe start
        self.count = count
    }

    /// Makes a view of memory, which the caller keeps and leaves unchanged while the view is used.
    @unsafe @inlinable package init(borrowing buffer: UnsafeBufferPointer<UInt8>) {
        unsafe self.init(start: buffer.baseAddress, count: buffer.count)
    }

    /// The view of no bytes, which has no address.
    package static let empty = unsafe ByteView(start: nil, count: 0)

    @inlinable package var isEmpty: Bool { count == 0 }

    /// The byte at `index`, which must be in `0..<count`; any other index traps.
    @inlinable package subscript(index: Int) -> UInt8 {
        precondition(index >= 0 && index < count, "byte index outside its view")
        // In bounds by the check above; `start` is only nil when `count` is 0.
        return unsafe start.unsafelyUnwrapped[index]
    }

    /// Calls `body` with a view of an array, without copying it.
    ///
    /// - Parameters:
    ///   - body: Uses the view, which is valid only during the call.
    /// - Returns: The result of `body`, whose errors are rethrown.
    package static func withBytes<Result, Failure: Error>(
        of array: [UInt8], _ body: (ByteView) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try unsafe array.withUnsafeBufferPointer { (buffer) throws(Failure) in
            try unsafe body(ByteView(start: buffer.baseAddress, count: buffer.count))
        }
    }

    /// Returns the bytes from `lower` on; bounds are clamped to the view.
    @inlinable package func suffix(from lower: Int) -> ByteView { slice(lower, count) }

    /// Returns the bytes in `lower..<upper`, both clamped to the view.
    @inlinable package func slice(_ lower: Int, _ upper: Int) -> ByteView {
        let first = Swift.min(Swift.max(lower, 0), count)
        let last = Swift.min(Swift.max(upper, first), count)
        guard last > first, let start = unsafe start else { return .empty }
        return unsafe ByteView(start: start + first, count: last - first)
    }

    /// Calls `body` with the bytes as raw memory, which must not be used after the call.
    @inlinable package func withUnsafeBytes<Result>(_ body: (UnsafeRawBufferPointer) throws -> Result) rethrows -> Result {
        try unsafe body(UnsafeRawBufferPointer(start: start, count: count))
    }

    /// Calls `body` with the bytes as numbers of 8 bits, in memory that must not be used after the call.
    @inlinable package func withBuffer<Result>(_ body: (UnsafeBufferPointer<UInt8>) throws -> Result) rethrows -> Result {
        try unsafe body(UnsafeBufferPointer(start: start, count: count))
    }

    /// The first sixteen bytes as two big-endian numbers, which sort as the bytes do; missing ones are 0.
    ///
    /// Sort keys of texts are made of them, so that most texts are compared without a loop over bytes.
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

    package var isZero: Bool { unsafe withBuffer { unsafe $0.allSatisfy { $0 == 0 } } }

    /// A copy of the bytes as an array.
    package var array: [UInt8] { unsafe Array(UnsafeBufferPointer(start: start, count: count)) }

    /// A copy of the bytes as text, or nil when they are not valid UTF-8.
    package var validatedString: String? {
        unsafe String(validating: UnsafeBufferPointer(start: start, count: count), as: UTF8.self)
    }

    /// A copy of the bytes as text; ill-formed sequences are replaced by U+FFFD.
    package var string: String { unsafe String(decoding: UnsafeBufferPointer(start: start, count: count), as: UTF8.self) }
}

/// Equality of bytes, wherever they are in memory.
extension ByteView: Equatable, Hashable {
    /// Returns whether both views have the same bytes, wherever these are in memory.
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
    /// Returns whether `left` sorts before `right` in unsigned byte order; a proper prefix sorts first.
    ///
    /// The order of UTF-8 texts by code point is the same.
    @inlinable package static func < (left: ByteView, right: ByteView) -> Bool { left.compare(right) < 0 }

    /// Returns a negative number, zero or a positive number when this view sorts before, with or after `other`.
    @inlinable package func compare(_ other: ByteView) -> Int {
        let common = Swift.min(count, other.count)
        if common > 0 {
            let order = unsafe memcmp(start.unsafelyUnwrapped, other.start.unsafelyUnwrapped, common)
            if order != 0 { return Int(order) }
        }
        return count - other.count
    }
}
