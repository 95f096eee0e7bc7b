// SPDX-License-Identifier: Apache-2.0

internal import RealmStorage

/// Owns the bytes of the constants of a bound query, which its values only borrow.
final class ConstantPool {
    private var storages: [ByteStorage] = []
    private var valueCount = 0
    private var byteCount = 0
    private var cornerCount = 0

    /// What all constants of a query may take together: an argument takes room wherever the query names it.
    static let maximumValueCount = 1 << 19
    static let maximumByteCount = 32 << 20

    /// Counts values of lists; false when they are too many.
    func admits(values count: Int) -> Bool {
        valueCount += count
        return valueCount <= ConstantPool.maximumValueCount
    }

    /// Counts bytes of texts and of binary data; false when they are too many.
    func admits(bytes count: Int) -> Bool {
        byteCount += count
        return byteCount <= ConstantPool.maximumByteCount
    }

    /// Counts the corners of shapes; false when they are too many, as checking them takes a while.
    func admits(corners count: Int) -> Bool {
        cornerCount += count
        return cornerCount <= GeoRegion.maximumVertexCount
    }

    /// Copies bytes. What is returned is valid as long as the pool lives.
    func keep(_ bytes: some Collection<UInt8>) -> ByteView {
        let storage = ByteStorage(bytes)
        storages.append(storage)
        return storage.view
    }
}
