// SPDX-License-Identifier: Apache-2.0

import RealmEngine
import RealmTestSupport
import Testing

/// Rows B29 to B32 of the checklist: aggregates of properties of every type.
@Suite struct AggregateRowTests {
    /// A property of the class `Value`, values of it, and the answers of the operations; nil for one that is refused.
    struct Case: Sendable, CustomTestStringConvertible {
        let property: String
        let values: [String]
        let min: String?
        let max: String?
        let sum: String?
        let avg: String?
        var testDescription: String { property }

        static func refused(_ property: String, _ values: [String]) -> Case {
            Case(property: property, values: values, min: nil, max: nil, sum: nil, avg: nil)
        }
    }

    private static let cases = [
        Case(property: "int", values: ["4", "null", "-9", "6"], min: "-9", max: "6", sum: "1", avg: "0.3333333333333333"),
        Case(property: "float", values: ["0.5", "null", "-2.25"], min: "-2.25", max: "0.5", sum: "-1.75", avg: "-0.875"),
        Case(property: "double", values: ["1.5", "null", "1e+300"], min: "1.5", max: "1e+300", sum: "1e+300", avg: "5e+299"),
        Case(
            property: "decimal", values: [#""1.10""#, "null", #""2.20""#], min: #""1.10""#, max: #""2.20""#, sum: #""3.30""#,
            avg: #""1.65""#),
        Case(
            property: "date", values: [#""2021-01-01T00:00:00Z""#, "null", #""1969-12-31T23:59:59.5Z""#],
            min: #""1969-12-31T23:59:59.5Z""#, max: #""2021-01-01T00:00:00Z""#, sum: nil, avg: nil),
        Case.refused("flag", ["true", "null"]), Case.refused("text", [#""a""#, "null"]), Case.refused("data", [#""AQ==""#]),
        Case.refused("oid", [#""507f1f77bcf86cd799439011""#]),
        Case.refused("uuid", [#""58715190-0c58-42bc-ab54-f775cb3b694a""#]),
    ]

    @Test(arguments: cases)
    func `B29, B30, B31, B32: each type has its aggregates, nulls are not counted, and others are refused`(_ one: Case) throws {
        try withWriteServer { (server: WriteServer) throws in
            for (index, value) in one.values.enumerated() {
                try server.done("PUT", "app/objects/Value/\(index + 1)", #"{"\#(one.property)":\#(value)}"#)
            }
            for (op, expected) in [("min", one.min), ("max", one.max), ("sum", one.sum), ("avg", one.avg)] {
                let name = "\(op):\(one.property)"
                let answer = try server.get("app/aggregate/Value?ops=\(name)")
                // Of no rows there is no least, greatest and average, and the sum is zero.
                let nothing = try server.get("app/aggregate/Value?ops=\(name)&where=FALSEPREDICATE")
                if let expected {
                    #expect(answer.json[name]?.serialized == expected, "\(answer.text)")
                    let empty = try #require(nothing.json[name])
                    #expect(op == "sum" ? empty.plainText.allSatisfy { "0.".contains($0) } : empty == .null, "\(nothing.text)")
                } else {
                    for refused in [answer, nothing] {
                        #expect(refused.status == 422 && refused.code == "type_mismatch", "\(name): \(refused.text)")
                    }
                }
            }
            // Where all are null, it is as if there were none.
            guard one.min != nil else { return }
            let nulls = try server.get(
                "app/aggregate/Value?where=\(one.property)%20%3D%3D%20NULL&ops=count,min:\(one.property),max:\(one.property)")
            #expect(nulls.json["count"]?.int == 1, "\(nulls.text)")
            #expect(nulls.json["min:\(one.property)"] == .null && nulls.json["max:\(one.property)"] == .null, "\(nulls.text)")
        }
    }

    @Test func `B31: a sum that no int can hold is refused, and so is one that only passes through`() throws {
        try withWriteServer { (server: WriteServer) throws in
            for (key, value) in [(1, "9223372036854775807"), (2, "1")] {
                try server.done("PUT", "app/objects/Value/\(key)", #"{"int":\#(value)}"#)
            }
            let refused = try server.get("app/aggregate/Value?ops=sum:int")
            #expect(refused.status == 422 && refused.code == "aggregate_overflow", "\(refused.text)")
            #expect(try server.get("app/aggregate/Value?ops=sum:int&where=_id%20%3D%3D%201").json["sum:int"]?.int == .max)
            #expect(try server.get("app/aggregate/Value?ops=max:int").json["max:int"]?.int == .max)
        }
    }
}
