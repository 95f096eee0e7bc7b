// SPDX-License-Identifier: Apache-2.0

package import RealmPlatform

/// The facts in the first bytes of a file, even of an unreadable one: no format is refused, and nothing behind the header is
/// read.
package struct FileGlance: Sendable {
    package enum Encryption: Sendable, Equatable {
        /// It is a Realm file that is not.
        case plain
        /// It is: the key fits, or its first page is a table of encrypted pages.
        case encrypted
        /// It is encrypted or no Realm file; the two cannot be distinguished.
        case unknown
    }

    /// The size of the file in bytes.
    package let byteCount: Int
    package let encryption: Encryption
    /// The format that the header names; nil when the header cannot be read, or has no signature.
    package let format: Int?
    /// Whether the file is in streaming form; nil when the header cannot be read.
    package let isStreaming: Bool?

    /// Looks at a file, which is opened for reading only.
    ///
    /// - Parameters:
    ///   - key: Its key. A wrong one counts as none.
    ///   - isExact: Whether the path was resolved before, so that no symbolic link is followed.
    /// - Throws: `.refused` when there is no such file, or it is no regular one; `.io` when it cannot be mapped.
    package init(path: String, key: EncryptionKey? = nil, isExact: Bool = false) throws(StorageError) {
        let descriptor = try System.openRegular(path, isExact: isExact)
        defer { System.close(descriptor) }
        byteCount = try System.regularFileSize(descriptor)
        guard byteCount >= FileHeader.byteCount else {
            (encryption, format, isStreaming) = (.unknown, nil, nil)
            return
        }
        let mapping = try FileMapping(descriptor: descriptor, byteCount: byteCount)
        (encryption, format, isStreaming) = withExtendedLifetime(mapping) {
            if let header = FileHeader.Statement(mapping.bytes) { return (.plain, header.fileFormat, header.isStreaming) }
            if let key, let pages = try? LazyPlainPages(file: mapping, key: key),
                let header = FileHeader.Statement(pages.plain.slice(0, FileHeader.byteCount))
            {
                return (.encrypted, header.fileFormat, header.isStreaming)
            }
            return (EncryptedAppearance.hasPageTable(mapping.bytes) ? .encrypted : .unknown, nil, nil)
        }
    }
}
