// SPDX-License-Identifier: Apache-2.0

internal import MicroHTTP
package import RealmAccess
package import RealmEngine
package import RealmFormats
internal import RealmPlatform
internal import RealmStorage

/// The objects in the body of a write: one, or many.
///
/// Reading a body does not need the schema. Whether the members fit the properties of a class is
/// checked inside the transaction.
package enum ObjectBodies {
    /// The only object of a body that is neither an array nor NDJSON.
    case one(InputReader.Reading)
    /// An array of objects, or NDJSON. For NDJSON, `lines` has the number of each object's line,
    /// counted from 1; for an array it is nil.
    case many([InputReader.Reading], lines: [Int]?)
    /// An array of objects with plain values, and its text, which is read once more if they cannot be created together.
    case rows(ObjectRows, text: [UInt8])

    /// Reads the body of a request that creates objects; the text of the body is released.
    ///
    /// - Parameters:
    ///   - call: The request, whose body has arrived completely.
    ///   - options: Its options, of which the media type of the body is used.
    ///   - shape: Returns the class of new objects, if they can be read as rows.
    /// - Throws: `invalid_json` and `body_too_large`. Errors inside an object are not thrown but
    ///   kept in its `InputReader.Reading`.
    package init(_ call: Call, _ options: WriteOptions, _ shape: () -> RowShape?) throws(Problem) {
        if options.bodyType == .ndjson {
            let lines = try NDJSONLines.parse(call.request.body.bytes, call.limits) { count throws(Problem) in
                try call.request.body.holding?.require(count * RequestBody.bytesPerValue)
            }
            call.request.body.forget()
            self = .many(lines.map { InputReader.read($0.value) }, lines: lines.map(\.line))
            return
        }
        if let rows = call.request.body.readRows(call.limits, shape) {
            self = .rows(rows, text: call.request.body.bytes)
            return
        }
        let value = try call.request.body.takeJSON(call.limits.json)
        if case .array(let elements) = value {
            self = .many(elements.map(InputReader.read), lines: nil)
        } else {
            self = .one(InputReader.read(value))
        }
    }

    /// Reads the objects of an array; none for any other text.
    ///
    /// - Throws: `invalid_json` and `body_too_large`.
    package static func array(_ text: [UInt8], _ limits: Limits) throws(Problem) -> [InputReader.Reading] {
        do throws(JSONError) {
            return try JSONParser.parse(text, limits.json).array?.map(InputReader.read) ?? []
        } catch {
            throw Problem(error)
        }
    }

    /// Reads the body of a request about one object; the text of the body is released.
    ///
    /// - Throws: `invalid_json` for a body that is not JSON.
    package static func one(_ call: Call) throws(Problem) -> InputReader.Reading {
        InputReader.read(try call.request.body.takeJSON(call.limits.json))
    }
}
