// SPDX-License-Identifier: Apache-2.0

import Foundation
import RealmFormats
import RealmHTTP
import RealmTestSupport
import Testing

/// Plain and wrapped forms of values, and how they are shown afterwards. Features D1, D11, D12.
@Suite struct InputFormTests {
    static let forms: [(property: String, given: String, shown: String)] = [
        ("int", "9007199254740993", "9007199254740993"), ("int", "\"-7\"", "-7"),
        ("int", #"{"$numberLong":"-9223372036854775808"}"#, "-9223372036854775808"),
        ("int", #"{"$numberInt":"5"}"#, "5"), ("flag", "true", "true"),
        ("double", "1", "1.0"), ("double", "0.1", "0.1"), ("double", "-0.0", "-0.0"), ("double", "\"NaN\"", "\"NaN\""),
        ("double", #"{"$numberDouble":"-Infinity"}"#, "\"-Infinity\""), ("double", #"{"$numberDouble":"1e300"}"#, "1e+300"),
        ("float", "1.5", "1.5"), ("float", #"{"$numberFloat":"0.1"}"#, "0.1"), ("float", #"{"$numberDouble":"0.5"}"#, "0.5"),
        ("decimal", "\"12.50\"", "\"12.50\""), ("decimal", "7", "\"7\""), ("decimal", #"{"$numberDecimal":"1E+3"}"#, "\"1E+3\""),
        ("decimal", "\"1234567890123456789012345678901234\"", "\"1234567890123456789012345678901234\""),
        ("decimal", "\"NaN\"", "\"NaN\""),
        ("decimal", "12345678901234567890", "\"12345678901234567890\""),
        ("date", "\"2026-11-21T10:00:00.000000001Z\"", "\"2026-11-21T10:00:00.000000001Z\""),
        ("date", "\"2026-11-21T12:00:00+02:00\"", "\"2026-11-21T10:00:00Z\""),
        ("date", #"{"$date":{"$numberLong":"1500"}}"#, "\"1970-01-01T00:00:01.5Z\""),
        ("date", #"{"$date":"2026-11-21T10:00:00Z"}"#, "\"2026-11-21T10:00:00Z\""),
        (
            "date", #"{"$instant":{"seconds":"99999999999999","nanoseconds":5}}"#,
            #"{"$instant":{"seconds":"99999999999999","nanoseconds":5}}"#
        ),
        ("data", "\"AQID\"", "\"AQID\""), ("data", #"{"$binary":{"base64":"AQID","subType":"00"}}"#, "\"AQID\""),
        ("data", "\"\"", "\"\""),
        ("oid", "\"507f1f77bcf86cd799439011\"", "\"507f1f77bcf86cd799439011\""),
        ("oid", #"{"$oid":"507F1F77BCF86CD799439011"}"#, "\"507f1f77bcf86cd799439011\""),
        ("uuid", "\"58715190-0c58-42bc-ab54-f775cb3b694a\"", "\"58715190-0c58-42bc-ab54-f775cb3b694a\""),
        ("uuid", #"{"$uuid":"58715190-0c58-42bc-ab54-f775cb3b694a"}"#, "\"58715190-0c58-42bc-ab54-f775cb3b694a\""),
        (
            "uuid", #"{"$binary":{"base64":"WHFRkAxYQryrVPd1yztpSg==","subType":"04"}}"#,
            "\"58715190-0c58-42bc-ab54-f775cb3b694a\""
        ),
        ("text", "\"é\\u0000\\n\"", "\"é\\u0000\\n\""), ("text", #"{"$bytes":"/w=="}"#, #"{"$bytes":"/w=="}"#),
        ("mixed", "1", "1"), ("mixed", "1.0", "1.0"), ("mixed", "\"2026-11-21T10:00:00Z\"", "\"2026-11-21T10:00:00Z\""),
        ("mixed", "null", "null"),
        ("mixed", #"{"$numberFloat":"1.5"}"#, #"{"$numberFloat":"1.5"}"#),
        ("mixed", #"{"$numberDecimal":"1.50"}"#, #"{"$numberDecimal":"1.50"}"#),
        ("mixed", #"{"$date":"2026-11-21T10:00:00Z"}"#, #"{"$date":"2026-11-21T10:00:00Z"}"#),
        ("mixed", #"{"$oid":"507f1f77bcf86cd799439011"}"#, #"{"$oid":"507f1f77bcf86cd799439011"}"#),
        ("mixed", #"{"$link":{"class":"Value","key":"1"}}"#, #"{"$link":{"class":"Value","key":"1"}}"#),
        ("mixed", #"{"a":[1,{"b":null}]}"#, #"{"a":[1,{"b":null}]}"#),
        ("mixed", "[]", "[]"), ("mixed", "{}", "{}"), ("mixedSet", "[1,1.0,\"a\",1]", "[1,\"a\"]"),
        ("map", #"{"a":1,"b":{"c":[]}}"#, #"{"a":1,"b":{"c":[]}}"#),
        ("mixeds", #"[null,true,1,"x",{"$numberDouble":"NaN"}]"#, #"[null,true,1,"x",{"$numberDouble":"NaN"}]"#),
    ]

    @Test func `D30: every form of every type is stored as what it says`() throws {
        let server = try WriteServer()
        try server.fill()
        for form in InputFormTests.forms {
            let answer = try server.send("PATCH", "app/objects/Value/1", "{\"\(form.property)\":\(form.given)}")
            #expect(answer.status == 200, "\(form.given): \(answer.text)")
            #expect(answer.text.contains("\"\(form.property)\":\(form.shown)"), "\(form.property) \(form.given): \(answer.text)")
            // What was shown can be given back, and changes nothing.
            let again = try server.send("PATCH", "app/objects/Value/1", "{\"\(form.property)\":\(form.shown)}")
            #expect(again["ETag"] == answer["ETag"], "\(form.property) \(form.given)")
        }
        let whole = try server.get("app/objects/Value/1", [("Accept", "application/ejson")])
        let put = try server.send("PUT", "app/objects/Value/1", whole.text, [("Content-Type", "application/ejson")])
        #expect(put.status == 200, "\(put.text)")
        try server.finish()
    }

    /// Wrappers that are read, and those that are not.
    static let wrappers: [(text: String, isRead: Bool)] = [
        (#"{"$numberInt":"5"}"#, true), (#"{"$numberInt":"2147483648"}"#, false), (#"{"$numberLong":"+5"}"#, false),
        (#"{"$numberLong":5}"#, true), (#"{"$numberLong":"9223372036854775808"}"#, false), (#"{"$numberLong":"-"}"#, false),
        (#"{"$numberLong":5.0}"#, false), (#"{"$numberDouble":"+1"}"#, false), (#"{"$numberDouble":"1e999"}"#, false),
        (#"{"$numberDouble":12345678901234567890}"#, true), (#"{"$numberDouble":"inf"}"#, false),
        (#"{"$numberFloat":"3.5e38"}"#, false), (#"{"$numberFloat":3}"#, true), (#"{"$numberDecimal":"+-5"}"#, false),
        (#"{"$numberDecimal":"+5"}"#, true), (#"{"$numberDecimal":"nan"}"#, false), (#"{"$numberDecimal":1.5}"#, false),
        (#"{"$numberDecimal":"1e7000"}"#, false), (#"{"$numberDecimal":"."}"#, false),
        (#"{"$binary":{"base64":"AQID","subType":"zz"}}"#, false), (#"{"$binary":{"base64":"AQID","subType":"0"}}"#, true),
        (#"{"$binary":{"base64":"AQID","subType":"004"}}"#, false), (#"{"$binary":{"base64":"AQID","subType":"04"}}"#, false),
        (#"{"$binary":"AQI"}"#, false), (#"{"$bytes":"/w=="}"#, true), (#"{"$bytes":"/w"}"#, false),
        (#"{"$date":{"$numberLong":"+1"}}"#, false), (#"{"$date":{"$numberInt":"1"}}"#, false),
        (#"{"$date":"2026-11-21T10:00:00"}"#, false),
        (#"{"$instant":{"seconds":"1","nanoseconds":1000000000}}"#, false),
        (#"{"$instant":{"seconds":-1,"nanoseconds":5}}"#, false),
        (#"{"$oid":"507f1f77bcf86cd79943901"}"#, false), (#"{"$uuid":"5871519-00c58-42bc-ab54-f775cb3b694a"}"#, false),
        (#"{"$link":{"class":"Value"}}"#, false), (#"{"$link":{"class":"Value","key":"1"}}"#, true),
    ]

    @Test func `arguments of queries and bodies read the same wrappers`() throws {
        let server = try WriteServer()
        try server.fill()
        for (text, isRead) in InputFormTests.wrappers {
            let body = try server.send("PATCH", "app/objects/Value/1", "{\"mixed\":\(text)}")
            #expect((body.status == 200) == isRead, "\(text): \(body.text)")
            let query = "{\"where\":\"mixed == $0\",\"args\":[\(text)],\"fields\":[\"_id\"]}"
            let found = try server.send("POST", "app/query/Value", query)
            #expect((found.status == 200) == isRead, "\(text): \(found.text)")
            #expect(found.text.contains(isRead ? "\"_id\":1" : "\"invalid_parameter\""), "\(text): \(found.text)")
        }
        try server.finish()
    }

    @Test func `pages in the order of texts that are not UTF-8 show every object once`() throws {
        let server = try WriteServer()
        try server.fill()
        for number in 1...40 {
            let text = Data([0x61, 0xff, UInt8(200 - number)]).base64EncodedString()
            let made = try server.send("PUT", "app/objects/Value/\(number)", "{\"text\":{\"$bytes\":\"\(text)\"}}")
            #expect(made.status < 300, "\(made.text)")
        }
        let list = "app/objects/Value?where=_id%20%3C%3D%2040&sort=text&limit=7&fields=_id"
        var ids: [Int] = []
        var next: String?
        repeat {
            let answer = try server.get(list + (next.map { "&after=\($0)" } ?? ""))
            let items = answer.json["items"]?.elements ?? []
            ids += items.compactMap { $0["_id"]?.int }
            next = answer.json["next"]?.text
        } while next != nil && ids.count <= 40
        #expect(ids == (1...40).reversed())
        try server.finish()
    }
}
