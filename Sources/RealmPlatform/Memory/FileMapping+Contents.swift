// SPDX-License-Identifier: Apache-2.0

extension FileMapping {
    /// Returns the contents of a small regular file, such as a configuration.
    ///
    /// - Parameters:
    ///   - limit: The greatest length in bytes.
    /// - Throws: `StorageError` when the file cannot be opened or is no regular file, and `.limit`
    ///   when it is longer.
    package static func contents(ofFile path: String, limit: Int) throws(StorageError) -> [UInt8] {
        let descriptor = try System.openForReading(path)
        defer { System.close(descriptor) }
        let byteCount = try System.regularFileSize(descriptor)
        guard byteCount > 0 else { return [] }
        guard byteCount <= limit else { throw .limit("the file has \(byteCount) bytes, more than \(limit)") }
        let mapping = try FileMapping(descriptor: descriptor, byteCount: byteCount)
        // The view does not hold the mapping.
        return withExtendedLifetime(mapping) { mapping.bytes.array }
    }
}
