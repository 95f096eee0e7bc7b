// SPDX-License-Identifier: Apache-2.0

package import RealmPlatform

/// Dates as RFC 3339 text: `YYYY-MM-DDTHH:MM:SS[.fraction]` and `Z` or an offset, for the years
/// 0001 to 9999. A date alone is read as midnight UTC.
extension Timestamp {
    /// Appends the text in UTC, with as many fraction digits (0 to 9) as needed.
    ///
    /// - Returns: Whether the text was appended; false for instants outside the years 0001 to 9999.
    package func appendRFC3339(to text: inout [UInt8]) -> Bool {
        let before = text.count
        text.appendBytes(capacity: DateWriter.maximumByteCount) { DateWriter.write(self, to: $0) }
        return text.count > before
    }

    /// The text in UTC; nil for instants outside the years 0001 to 9999.
    package var rfc3339: String? {
        var text: [UInt8] = []
        return appendRFC3339(to: &text) ? String(decoding: text, as: UTF8.self) : nil
    }

    /// Reads a whole text: a date alone, which is midnight UTC, or one with a time. After a time the
    /// offset (`Z`, `+HH:MM` or `-HH:MM`) is required; at most nine fraction digits are allowed.
    ///
    /// It fails for leap seconds, days that do not exist and instants outside the years 0001 to
    /// 9999.
    package init?(rfc3339 text: ByteView) {
        var reader = RFC3339Reader(text: text)
        guard let (seconds, nanoseconds) = reader.read(), DateWriter.writableSeconds.contains(seconds) else { return nil }
        self.init(floor: seconds, nanoseconds: nanoseconds)
    }

    /// Reads a Swift string, as the initializer for byte views does.
    package init?(rfc3339 text: String) {
        let storage = ByteStorage(text)
        guard let date = withExtendedLifetime(storage, { Timestamp(rfc3339: storage.view) }) else { return nil }
        self = date
    }
}
