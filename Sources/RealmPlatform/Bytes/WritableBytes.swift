// SPDX-License-Identifier: Apache-2.0

/// Room for a few bytes that a writer stores: the digits of a number, a date, a decrypted page.
///
/// The maker of the room keeps it in memory until the writer returns, and a writer keeps no room. A writer first calls `require`
/// with the greatest number of bytes that it stores, which traps when the room is smaller. Later stores are checked byte by byte
/// in debug builds only, because writers are called tens of times for each object of a response.
@safe package struct WritableBytes {
    /// The first byte.
    @usableFromInline let start: UnsafeMutablePointer<UInt8>
    /// How many bytes may be stored.
    package let count: Int

    /// Makes room of `count` bytes from `start` on, which the caller owns.
    @unsafe @inlinable @inline(__always) package init(start: UnsafeMutablePointer<UInt8>, count: Int) {
        unsafe self.start = unsafe start
        self.count = count
    }

    /// The byte at `index`, which must be in `0..<count`; it is read only after it was stored.
    @inlinable package subscript(index: Int) -> UInt8 {
        @inline(__always) get {
            assert(contains(index, 1), "byte \(index) is outside the room of \(count)")
            return unsafe start[index]
        }
        @inline(__always) nonmutating set {
            assert(contains(index, 1), "byte \(index) is outside the room of \(count)")
            unsafe start[index] = newValue
        }
    }

    /// Checks that there is room for so many bytes, otherwise it traps.
    @inlinable @inline(__always) package func require(_ byteCount: Int) {
        precondition(byteCount <= count, "a writer has too little room")
    }

    /// Returns the room from `offset` on, which must be in `0...count`; otherwise it traps.
    @inlinable @inline(__always) package func suffix(from offset: Int) -> WritableBytes {
        precondition(contains(offset, 0), "byte index outside its room")
        return unsafe WritableBytes(start: start + offset, count: count &- offset)
    }

    /// Returns whether `byteCount` bytes from `offset` on lie in the room.
    @inlinable @inline(__always) func contains(_ offset: Int, _ byteCount: Int) -> Bool {
        offset >= 0 && offset <= count &- byteCount
    }

    /// Calls `body` with the room as memory, which must not be used after the call.
    package func withUnsafeMutableBytes<Result>(_ body: (UnsafeMutableBufferPointer<UInt8>) -> Result) -> Result {
        unsafe body(UnsafeMutableBufferPointer(start: start, count: count))
    }

    /// A view of the bytes, all of which must have been stored.
    package var view: ByteView { unsafe ByteView(start: UnsafePointer(start), count: count) }

    /// Stores two bytes from `offset` on; the low one comes first.
    @inlinable @inline(__always) package func store(_ pair: UInt16, at offset: Int) {
        assert(contains(offset, 2), "no room for two bytes at \(offset) of \(count)")
        unsafe UnsafeMutableRawPointer(start + offset).storeBytes(of: pair.littleEndian, as: UInt16.self)
    }

    /// Stores the eight bytes of a word from `offset` on, in the order in which memory has them.
    @inlinable @inline(__always) package func store(_ word: UInt64, at offset: Int) {
        assert(contains(offset, 8), "no room for a word at \(offset) of \(count)")
        unsafe UnsafeMutableRawPointer(start + offset).storeBytes(of: word, as: UInt64.self)
    }

    /// Stores the UTF-8 bytes of a text as far as there is room, and returns how many were stored.
    package func store(_ text: String) -> Int {
        var text = text
        return text.withUTF8 { bytes in
            let stored = min(bytes.count, count)
            if let source = bytes.baseAddress { unsafe start.update(from: source, count: stored) }
            return stored
        }
    }
}

/// Arrays that writers append to.
extension [UInt8] {
    /// Appends bytes that `body` stores.
    ///
    /// - Parameters:
    ///   - capacity: The greatest number of bytes that `body` stores.
    ///   - body: Stores bytes in the room that it is called with, and returns how many.
    package mutating func appendBytes(capacity: Int, _ body: (WritableBytes) -> Int) {
        unsafe withUnsafeTemporaryAllocation(of: UInt8.self, capacity: capacity) { buffer in
            guard let start = buffer.baseAddress else { return }
            let count = body(unsafe WritableBytes(start: start, count: capacity))
            precondition(count <= capacity, "more bytes written than announced")
            unsafe append(contentsOf: UnsafeBufferPointer(start: start, count: count))
        }
    }

    /// Stores bytes in the middle of the array.
    ///
    /// - Parameters:
    ///   - range: The places, which must be in the array; otherwise it traps.
    ///   - body: Stores bytes in the room that it is called with; its errors are rethrown.
    /// - Returns: The result of `body`.
    package mutating func withRoom<Result, Failure: Error>(
        at range: Range<Int>, _ body: (WritableBytes) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        precondition(range.lowerBound >= 0 && range.upperBound <= count, "no bytes \(range) in \(count)")
        return try unsafe withUnsafeMutableBufferPointer { (buffer) throws(Failure) in
            guard let start = buffer.baseAddress else { preconditionFailure("an array without bytes has no room") }
            return try body(unsafe WritableBytes(start: start + range.lowerBound, count: range.count))
        }
    }
}

/// Strings that are made by a writer.
extension String {
    /// Makes a string of the ASCII characters that `body` stores.
    ///
    /// - Parameters:
    ///   - capacity: The greatest number of bytes that `body` stores.
    ///   - body: Stores characters in the room that it is called with, and returns how many.
    package init(capacity: Int, _ body: (WritableBytes) -> Int) {
        self = unsafe String(unsafeUninitializedCapacity: capacity) { buffer in
            guard let start = buffer.baseAddress else { return 0 }
            return body(unsafe WritableBytes(start: start, count: capacity))
        }
    }
}
