// SPDX-License-Identifier: Apache-2.0

internal import RealmEngine

/// The objects in the body of a write.
enum ObjectBodies {
    /// One object, or a mistake that is told when it is the object's turn: what is wrong with the realm's state comes
    /// before what is wrong with the values.
    typealias Reading = Result<InputObject, InputReader.Mistake>

    case one(Reading)
    /// With their lines when they came as NDJSON.
    case many([Reading], lines: [Int]?)

    /// Reads the body of a request that creates objects.
    init(_ call: WriteCall, _ options: WriteOptions) throws(Problem) {
        if options.bodyType == "application/x-ndjson" {
            let lines = try NDJSONLines.parse(call.request.body, call.limits) { count throws(Problem) in
                try call.request.holding?.require(count * Request.bytesPerValue)
            }
            call.request.forgetBody()
            self = .many(lines.map { ObjectBodies.read($0.value) }, lines: lines.map(\.line))
            return
        }
        let value = try call.request.takeJSON(call.limits)
        if case .array(let elements) = value {
            self = .many(elements.map(ObjectBodies.read), lines: nil)
        } else {
            self = .one(ObjectBodies.read(value))
        }
    }

    static func read(_ value: JSONValue) -> Reading {
        Result { () throws(InputReader.Mistake) in try InputReader().object(value) }
    }

    /// Reads the body of a request about one object.
    static func one(_ call: WriteCall) throws(Problem) -> Reading {
        read(try call.request.takeJSON(call.limits))
    }
}

extension Result where Success: Sendable, Failure == InputReader.Mistake {
    /// What was read, or the problem that its mistake is.
    func value(at place: InputPlace = InputPlace()) throws(Problem) -> Success {
        do throws(InputReader.Mistake) {
            return try get()
        } catch {
            throw place.inside(InputPath(error.steps)).describe(Problem(error.code, error.detail))
        }
    }
}
