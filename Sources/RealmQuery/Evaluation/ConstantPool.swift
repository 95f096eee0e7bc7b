// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform

/// Owns the bytes of the constants of a bound query, which its values only borrow, and limits how much they take.
///
/// The pool lives as long as the bound query. It is filled while the query is bound, by one thread.
final class ConstantPool {
    /// The copies, which are never changed or released before the pool is.
    private var storages: [ByteStorage] = []
    /// The number of list elements that the constants of the query have so far.
    private var valueCount = 0
    /// The number of bytes that the arguments of the query have so far.
    private var byteCount = 0
    /// The number of corners that the shapes of the query have so far.
    private var cornerCount = 0

    /// The greatest number of list elements in all constants of a query together. An argument
    /// counts each time the query names it.
    static let maximumValueCount = 1 << 19
    /// The greatest number of bytes in all arguments of a query together, 32 MiB. An argument
    /// counts each time the query names it.
    static let maximumByteCount = 32 << 20

    /// Counts elements of lists. Returns false when the query has too many of them.
    func admits(values count: Int) -> Bool {
        valueCount += count
        return valueCount <= ConstantPool.maximumValueCount
    }

    /// Counts bytes of texts and of binary data. Returns false when the query has too many of them.
    func admits(bytes count: Int) -> Bool {
        byteCount += count
        return byteCount <= ConstantPool.maximumByteCount
    }

    /// Counts the corners of shapes. Returns false when the query has too many of them to be checked in reasonable time.
    func admits(corners count: Int) -> Bool {
        cornerCount += count
        return cornerCount <= GeoRegion.maximumVertexCount
    }

    /// Copies bytes into the pool.
    ///
    /// - Parameter bytes: The bytes of a text or of binary data.
    /// - Returns: A view of the copy, which is valid as long as the pool lives.
    func keep(_ bytes: some Collection<UInt8>) -> ByteView {
        let storage = ByteStorage(bytes)
        storages.append(storage)
        return storage.view
    }
}
