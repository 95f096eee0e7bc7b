// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform
internal import RealmStorage

/// Finds out what separates the cells of CSV.
enum CSVSeparator {
    /// How much of the input is looked at, in bytes.
    private static let byteCount = 64 << 10

    /// Returns the separator that the first line has most of outside of quotes; a comma when it has none.
    ///
    /// Programs write semicolons where numbers have decimal commas.
    ///
    /// - Parameter source: The input.
    static func sniff(_ source: ImportSource) throws(Problem) -> UInt8 {
        var counts: [UInt8: Int] = [:]
        var isQuoted = false
        for byte in try source.read(at: 0, byteCount: byteCount) {
            if byte == UInt8(ascii: "\"") { isQuoted.toggle() }
            guard !isQuoted else { continue }
            if byte == UInt8(ascii: "\n") || byte == UInt8(ascii: "\r") { break }
            if [UInt8(ascii: ","), UInt8(ascii: ";"), UInt8(ascii: "\t")].contains(byte) { counts[byte, default: 0] += 1 }
        }
        let most = counts.values.max() ?? 0
        return [UInt8(ascii: ","), UInt8(ascii: ";"), UInt8(ascii: "\t")].first { counts[$0] == most } ?? UInt8(ascii: ",")
    }
}
