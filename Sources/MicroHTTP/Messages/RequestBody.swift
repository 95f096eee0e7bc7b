// SPDX-License-Identifier: Apache-2.0

package import RealmFormats
internal import RealmPlatform

/// The body of a request: bytes in memory, or a file.
///
/// `@unchecked Sendable`: the daemon's thread of the connection, or the one that writes the file, fills it before any handler runs; after
/// that only the one thread that works for the request changes it.
package final class RequestBody: @unchecked Sendable {
    /// The bytes in memory. Their content coding is undone before an endpoint sees them.
    package var bytes: [UInt8]
    /// A long body in a temporary file; `bytes` is empty then.
    package var file: BodyFile?
    /// The memory for bodies that the body, and the values parsed from it, use; nil where this is not counted.
    package var holding: ByteHolding?
    /// The budget of temporary files; nil where this is not counted.
    package let spool: SpoolRoom?

    /// Makes a body.
    ///
    /// - Parameters:
    ///   - bytes: The bytes that have arrived.
    ///   - spool: The budget of temporary files.
    package init(_ bytes: [UInt8] = [], spool: SpoolRoom? = nil) {
        self.bytes = bytes
        self.spool = spool
    }

    /// Whether there is no body, neither in memory nor in a file.
    package var isEmpty: Bool { bytes.isEmpty && file == nil }

    /// Parses the body as JSON and keeps its text.
    ///
    /// The memory for the parsed values is reserved before any of them is made, at `bytesPerValue` each, and is held as long as the
    /// request holds memory.
    ///
    /// - Parameter bounds: The greatest depth and number of values.
    /// - Throws: `invalid_json` or `body_too_large` for a wrong body; `overloaded` or `rate_limited` when the memory for bodies is used up.
    package func readJSON(_ bounds: JSONBounds) throws(Problem) -> JSONValue {
        var refusal: Problem?
        do throws(JSONError) {
            return try JSONParser.parse(bytes, bounds) { count in
                refusal = refusalOfMemory(count * RequestBody.bytesPerValue)
                return refusal == nil
            }
        } catch {
            throw refusal ?? Problem(error)
        }
    }

    /// Reserves memory for bodies, and returns the problem when there is not enough of it.
    package func refusalOfMemory(_ byteCount: Int) -> Problem? {
        do throws(Problem) {
            try holding?.require(byteCount)
            return nil
        } catch {
            return error
        }
    }

    /// Parses the body as JSON like `readJSON(_:)`, and releases its text, for endpoints that need the body only once.
    ///
    /// - Parameter bounds: The greatest depth and number of values.
    /// - Throws: The problems of `readJSON(_:)`.
    package func takeJSON(_ bounds: JSONBounds) throws(Problem) -> JSONValue {
        let value = try readJSON(bounds)
        forget()
        return value
    }

    /// The estimated average memory in bytes of one parsed JSON value.
    package static let bytesPerValue = 128

    /// Releases the text of a body that is not needed again, and the memory that was reserved for it.
    package func forget() {
        holding?.shrink(by: bytes.count)
        bytes = []
    }
}
