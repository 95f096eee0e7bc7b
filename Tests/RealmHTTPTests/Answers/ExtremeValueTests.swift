// SPDX-License-Identifier: Apache-2.0

import RealmTestSupport
import Testing

/// Values at the edge of their types, through every function that calculates with them.
///
/// The floor of the smallest integers is below what 64 bits hold, which once ended the process.
@Suite struct ExtremeValueTests {
    private let server: TestServer

    init() throws { server = try TestServer(["types-single"]) }

    @Test(arguments: [
        "sectionBy=intValue:floor(7)", "sectionBy=intValue:mod(7)", "sectionBy=dateValue:year", "sectionBy=dateValue:month",
        "sectionBy=dateValue:day", "sectionBy=doubleValue:floor(3)", "sectionBy=doubleValue:mod(3)",
        "sectionBy=floatValue:floor(3)", "sectionBy=decimalValue:floor(3)", "sort=-intValue", "sort=dateValue,-decimalValue",
        "sort=doubleValue", "distinct=decimalValue", "where=intValue%20-%201%20%3E%200",
        "where=intValue%20*%20intValue%20%3E%200",
        "where=intValue%20/%20-1%20%3E%200", "where=dateValue%20%3E%20T0:0", "ints=string", "format=ejson", "format=csv",
    ])
    func `are listed without a failure`(_ parameters: String) throws {
        for name in ["AllRequired", "AllOptional"] {
            let answer = try server.get("/v1/realms/types-single/objects/\(name)?\(parameters)")
            #expect(answer.status == 200, "\(name) \(parameters): \(answer.text)")
        }
    }

    @Test(arguments: ["intValue", "floatValue", "doubleValue", "decimalValue", "dateValue"])
    func `are aggregated, or refused as an overflow`(_ property: String) throws {
        for operation in ["min", "max", "sum", "avg"] {
            let answer = try server.get("/v1/realms/types-single/aggregate/AllRequired?ops=\(operation):\(property)")
            #expect([200, 422].contains(answer.status), "\(operation) \(property): \(answer.text)")
        }
    }
}
