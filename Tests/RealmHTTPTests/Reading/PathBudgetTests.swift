// SPDX-License-Identifier: Apache-2.0

import Foundation
import RealmEngine
import RealmFormats
import RealmHTTP
import RealmTestSupport
import Testing

/// Paths have a bounded number of steps wherever they stand, and requests a bounded number of paths.
@Suite struct PathBudgetTests {
    private static let classes = [
        ClassInput(
            "N", primaryKey: "id",
            [
                PropertyInput("id", "int"), PropertyInput("p", "object", optional: true, objectType: "N"),
                PropertyInput("l", "object", collection: "list", objectType: "N"), PropertyInput("m", "mixed"),
            ])
    ]

    /// An object that links to itself.
    private func withLoop(_ body: (WriteServer) throws -> Void) throws {
        try withWriteServer(PathBudgetTests.classes) { server in
            try server.done("POST", "app/objects/N", #"{"id":1}"#)
            let own = #"{"$link":{"class":"N","key":"1"}}"#
            try server.done("PATCH", "app/objects/N/1", #"{"p":\#(own),"l":[\#(own)]}"#)
            try body(server)
        }
    }

    private func path(_ name: String, _ steps: Int) -> String { Array(repeating: name, count: steps).joined(separator: ".") }

    private struct Place: Sendable {
        let request: String
        let body: @Sendable (String) -> String
    }

    private static let places = [
        Place(request: "query/N") { #"{"sort":["\#($0).id"]}"# }, Place(request: "query/N") { #"{"distinct":["\#($0).id"]}"# },
        Place(request: "query/N") { #"{"sectionBy":"\#($0).id"}"# }, Place(request: "query/N") { #"{"fields":["\#($0).id"]}"# },
        Place(request: "query/N") { #"{"expand":["\#($0)"]}"# }, Place(request: "query/N") { #"{"where":"\#($0).id == 1"}"# },
        Place(request: "query/N") { #"{"where":"TRUEPREDICATE SORT(\#($0).id ASC)"}"# },
        Place(request: "aggregate/N") { #"{"ops":["max:\#($0).id"]}"# },
        Place(request: "subscriptions") { #"{"subscriptions":{"a":{"class":"N","sort":["\#($0).id"]}}}"# },
        Place(request: "subscriptions") { #"{"subscriptions":{"a":{"class":"N","distinct":["\#($0).id"]}}}"# },
        Place(request: "subscriptions") { #"{"subscriptions":{"a":{"class":"N","keyPaths":["\#($0).id"]}}}"# },
        Place(request: "subscriptions") { #"{"subscriptions":{"a":{"class":"N","fields":["\#($0).id"]}}}"# },
        Place(request: "subscriptions") { #"{"subscriptions":{"a":{"class":"N","key":"1","property":"\#($0)"}}}"# },
        Place(request: "subscriptions") { #"{"subscriptions":{"a":{"class":"N","sectionBy":"\#($0).id"}}}"# },
        Place(request: "batch") { #"{"ops":[{"increment":{"class":"N","key":"1","property":"\#($0)","by":1}}]}"# },
    ]

    @Test func `long paths are refused wherever they stand`() throws {
        try withLoop { server in
            for place in PathBudgetTests.places {
                for name in ["p", "l"] {
                    for steps in [129, 500, 3000, 30_000] {
                        let answer = try server.send("POST", "app/" + place.request, place.body(path(name, steps)))
                        #expect(
                            (400..<500).contains(answer.status), "\(place.request) \(place.body(name)) \(steps): \(answer.status)"
                        )
                    }
                }
            }
            #expect(try server.get("app/objects/N/1").status == 200)
        }
    }

    @Test func `paths of moderate length work`() throws {
        try withLoop { server in
            let answer1 = try server.send("POST", "app/query/N", #"{"sort":["\#(path("p", 100)).id"]}"#)
            #expect(answer1.status == 200)
            let answer2 = try server.send("POST", "app/aggregate/N", #"{"ops":["max:\#(path("p", 100)).id"]}"#)
            #expect(answer2.status == 200)
        }
    }

    @Test func `requests have so many terms`() throws {
        try withLoop { server in
            let many = Array(repeating: #""id""#, count: 101).joined(separator: ",")
            for (request, name) in [("query/N", "sort"), ("query/N", "distinct"), ("aggregate/N", "ops")] {
                let answer = try server.send("POST", "app/" + request, #"{"\#(name)":[\#(many)]}"#)
                #expect(answer.status == 400, "\(name)")
                #expect(answer.json["limit"]?.int == 100, "\(name)")
                #expect(answer.json["parameter"]?.text == name)
            }
            let terms = Array(repeating: "id ASC", count: 101).joined(separator: ",")
            let answer3 = try server.send("POST", "app/query/N", #"{"where":"TRUEPREDICATE SORT(\#(terms))"}"#)
            #expect(answer3.code == "invalid_query")
            let fields = Array(repeating: #""id""#, count: 1001).joined(separator: ",")
            let answer4 = try server.send("POST", "app/query/N", #"{"fields":[\#(fields)]}"#)
            #expect(answer4.json["limit"]?.int == 1000)
        }
    }

    @Test func `JSON Pointers have so many steps`() throws {
        try withLoop { server in
            let pointer = String(repeating: "/m", count: 200)
            let answer = try server.send(
                "PATCH", "app/objects/N/1", #"[{"op":"add","path":"\#(pointer)","value":1}]"#, WriteServer.jsonPatch)
            #expect(answer.status == 400)
            #expect(answer.json["limit"]?.int == 128)
        }
    }

    @Test func `expressions of migrations are no deep trees`() throws {
        try withLoop { server in
            let expression = Array(repeating: "1", count: 5000).joined(separator: "+")
            let answer = try server.send(
                "POST", "app/migrations",
                #"{"fromVersion":0,"toVersion":1,"steps":[{"setWhere":{"class":"N","where":"TRUEPREDICATE","values":{"m":{"$expr":"\#(expression)"}}}}]}"#
            )
            #expect((400..<500).contains(answer.status))
        }
    }
}
