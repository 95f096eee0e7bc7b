// SPDX-License-Identifier: Apache-2.0

internal import RealmAccess
internal import RealmFormats
internal import RealmPlatform
internal import RealmStorage

/// The settings of the audit log.
extension ServerSetting {
    /// The place of the audit log, and the handling of failures.
    static let audit: [ServerSetting] = [
        ServerSetting(
            "audit.file", option: "audit", effect: .now,
            read: { reader, json, options throws(Problem) in options.audit.file = try reader.path(json) },
            show: { $0.audit.file.map { .string($0) } ?? .null }),
        ServerSetting(
            "audit.required", effect: .now,
            read: { reader, json, options throws(Problem) in options.audit.isRequired = try reader.flag(json) },
            show: { .bool($0.audit.isRequired) }),
        ServerSetting(
            "audit.rotate", effect: .now,
            read: { reader, json, options throws(Problem) in options.audit.rotationBytes = try rotation(json, reader) },
            show: { .integer(Int64($0.audit.rotationBytes)) }),
        .number("audit.keep", \.audit.keptCount, in: AuditOptions.keptRange, effect: .now),
    ]

    /// Reads the size from which a new file begins.
    private static func rotation(_ json: JSONValue, _ reader: SettingReader) throws(Problem) -> Int {
        guard let byteCount = Quantity.bytes(json), byteCount == 0 || AuditOptions.rotationRange.contains(byteCount) else {
            let range = AuditOptions.rotationRange
            throw reader.problem(
                "expected a number of bytes from \(range.lowerBound) to \(range.upperBound), such as 64MiB; 0 for never")
        }
        return byteCount
    }
}
