// SPDX-License-Identifier: Apache-2.0

internal import RealmEngine
internal import RealmPlatform
internal import RealmStorage

/// The objects in the body of a write: one, or many.
///
/// Reading a body does not need the schema. Whether the members fit the properties of a class is
/// checked inside the transaction.
enum ObjectBodies {
    /// The input of one object, or the error in it.
    ///
    /// An error in an input is kept and reported when the object is written, because a problem with
    /// the state of the realm is reported before one with the values.
    typealias Reading = Result<InputObject, InputReader.InputError>

    /// The only object of a body that is neither an array nor NDJSON.
    case one(Reading)
    /// An array of objects, or NDJSON. For NDJSON, `lines` has the number of each object's line,
    /// counted from 1; for an array it is nil.
    case many([Reading], lines: [Int]?)
    /// An array of objects with plain values, and its text, which is read once more if they cannot be created together.
    case rows(ObjectRows, text: [UInt8])

    /// Reads the body of a request that creates objects; the text of the body is released.
    ///
    /// - Parameters:
    ///   - call: The request, whose body has arrived completely.
    ///   - options: Its options, of which the media type of the body is used.
    ///   - shape: Returns the class of new objects, if they can be read as rows.
    /// - Throws: `invalid_json` and `body_too_large`. Errors inside an object are not thrown but
    ///   kept in its `Reading`.
    init(_ call: WriteCall, _ options: WriteOptions, _ shape: () -> RowShape?) throws(Problem) {
        if options.bodyType == .ndjson {
            let lines = try NDJSONLines.parse(call.request.body, call.limits) { count throws(Problem) in
                try call.request.holding?.require(count * Request.bytesPerValue)
            }
            call.request.forgetBody()
            self = .many(lines.map { ObjectBodies.read($0.value) }, lines: lines.map(\.line))
            return
        }
        if let rows = call.request.readRows(call.limits, shape) {
            self = .rows(rows, text: call.request.body)
            return
        }
        let value = try call.request.takeJSON(call.limits)
        if case .array(let elements) = value {
            self = .many(elements.map(ObjectBodies.read), lines: nil)
        } else {
            self = .one(ObjectBodies.read(value))
        }
    }

    /// Reads the objects of an array; none for any other text.
    ///
    /// - Throws: `invalid_json` and `body_too_large`.
    static func array(_ text: [UInt8], _ limits: Limits) throws(Problem) -> [Reading] {
        do throws(JSONError) {
            return try JSONParser.parse(text, limits.json).array?.map(read) ?? []
        } catch {
            throw Problem(error)
        }
    }

    /// Reads one object from JSON, and keeps an error instead of throwing it.
    static func read(_ value: JSONValue) -> Reading {
        Result { () throws(InputReader.InputError) in try InputReader().object(value) }
    }

    /// Reads the body of a request about one object; the text of the body is released.
    ///
    /// - Throws: `invalid_json` for a body that is not JSON.
    static func one(_ call: WriteCall) throws(Problem) -> Reading {
        read(try call.request.takeJSON(call.limits))
    }
}

/// Reports an input that was read early, at the time when it is written.
extension Result where Success: Sendable, Failure == InputReader.InputError {
    /// Returns the input that was read, or throws the problem with it.
    ///
    /// - Parameter place: The place of the input in the request body. The pointer of the problem
    ///   begins there.
    func value(at place: InputPlace = InputPlace()) throws(Problem) -> Success {
        do throws(InputReader.InputError) {
            return try get()
        } catch {
            throw place.inside(InputPath(error.steps)).describe(Problem(error.code, error.detail))
        }
    }
}
