// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform
internal import RealmStorage

/// The header of a file that is examined: both slots, whatever they name.
struct EvidenceHeader {
    /// The format of the present version.
    let format: Int
    /// The top node of the present version; 0 for none.
    let top: UInt64
    /// The top node that the other slot names; nil when it names none that could be read.
    let otherTop: UInt64?
    /// Whether the file was written in one pass, so that the other slot says nothing.
    let isStreaming: Bool
    /// The defect of the header; nil for a sound one.
    let damage: String?

    /// Reads the header.
    ///
    /// - Throws: `.refused` for a file that is no Realm file or has a format that is not read. A file that is cut short is not
    ///   refused.
    init(_ file: EvidenceFile) throws(StorageError) {
        let bytes = file.plain
        do throws(StorageError) {
            let header = try FileHeader(
                prefix: bytes.slice(0, FileHeader.byteCount),
                footer: bytes.suffix(from: bytes.count - FileHeader.footerByteCount),
                fileSize: UInt64(bytes.count), isEncrypted: file.isEncrypted)
            self.init(bytes, format: header.fileFormat, top: header.topRef.rawValue, isStreaming: header.isStreaming, damage: nil)
        } catch {
            guard case .corrupt(_, let reason) = error else { throw error }
            let slot = Int(bytes[23] & 1)
            let format = Int(bytes[20 + slot])
            guard FileHeader.supportedFormats.contains(format) || format == 0 else { throw error }
            let top = EvidenceHeader.ref(bytes, slot: slot)
            self.init(bytes, format: format, top: top, isStreaming: slot == 0 && top == .max, damage: reason)
        }
    }

    private init(_ bytes: ByteView, format: Int, top: UInt64, isStreaming: Bool, damage: String?) {
        (self.format, self.top, self.isStreaming, self.damage) = (format, top, isStreaming, damage)
        let other = EvidenceHeader.ref(bytes, slot: 1 - Int(bytes[23] & 1))
        let isPossible = !isStreaming && other != 0 && other & 7 == 0 && other < UInt64(bytes.count)
        otherTop = isPossible ? other : nil
    }

    private static func ref(_ bytes: ByteView, slot: Int) -> UInt64 { bytes.word(at: 8 * slot).byteSwapped }
}
