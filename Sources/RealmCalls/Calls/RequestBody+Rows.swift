// SPDX-License-Identifier: Apache-2.0

internal import MicroHTTP
internal import RealmAccess
internal import RealmEngine
internal import RealmFormats
internal import RealmPlatform
internal import RealmStorage

extension RequestBody {
    /// Reads the body as rows if it is an array of objects with plain values, and keeps its text.
    ///
    /// - Parameters:
    ///   - limits: The limits of the server, of which depth and number of values apply.
    ///   - shape: Returns the class of the objects, if they can be read as rows.
    /// - Returns: The rows; nil for a body that has to be read in another way: one that is wrong, or that there is no memory for as
    ///   rows, which may take more than the values do.
    func readRows(_ limits: Limits, _ shape: () -> RowShape?) -> ObjectRows? {
        let first = bytes.first { $0 != 0x20 && $0 != 0x09 && $0 != 0x0a && $0 != 0x0d }
        guard first == UInt8(ascii: "["), bytes.count >= RequestBody.leastRows, bytes.count <= JSONTape.longestText,
            let shape = shape()
        else { return nil }
        // A row has a value for each property, whether it is given or not.
        let valueLimit = bytes.count / 4
        let byteCount = bytes.count + valueLimit * MemoryLayout<Value?>.stride
        guard refusalOfMemory(byteCount) == nil else { return nil }
        if let rows = JSONTape.rows(bytes, limits.json, of: shape, valueLimit: valueLimit) { return rows }
        holding?.shrink(by: byteCount)
        return nil
    }

    /// The length in bytes from which a body may have so many objects that rows are worth their begin.
    private static let leastRows = 1 << 10
}
