// SPDX-License-Identifier: Apache-2.0

@testable import RealmCalls
@testable import RealmFormats
import RealmPlatform
import RealmQuery
import RealmStorage
import Testing

@Suite struct ReadingTests {
    /// Whether a text of a URL names the section that a value is in.
    private func names(_ text: String, _ grouping: String, _ value: QueryArgument) throws -> Bool {
        try SectionGrouping(grouping).key(.value(value)).fit(SectionName(.text(text))) == .exact
    }

    @Test func `section keys are functions of values`() throws {
        #expect(try names("7", "a", .int(7)))
        #expect(try names("-10", "a:floor(10)", .int(-1)))
        #expect(try names("9", "a:mod(10)", .int(-1)))
        #expect(try names("-9223372036854775808", "a:floor(3)", .int(.min)))
        #expect(try names("9223372036854775806", "a:mod(9223372036854775807)", .int(.min)))
        #expect(try names("-2.0", "a:floor(2)", .double(-0.5)))
        #expect(try names("é", "a:first", .string("éa")))
        #expect(try names("@empty", "a:first", .string("")))
        #expect(try names("@null", "a:first", .null))
        #expect(try names("É", "a:firstLetter", .string("éa")))
        #expect(try names("@null", "a:firstLetter", .null))
        #expect(try names("@@x", "a", .string("@x")))
        let date = Timestamp(seconds: -1, nanoseconds: 0)
        #expect(try names("1969", "a:year", .timestamp(date)))
        #expect(try names("12", "a:month", .timestamp(date)))
        #expect(try names("31", "a:day", .timestamp(date)))
        for seconds in [Int64.min, .max] {
            _ = try names("1", "a:year", .timestamp(Timestamp(seconds: seconds, nanoseconds: 0)))
        }
        #expect(try SectionGrouping("a").key(.missing).fit(SectionName(.text("@null"))) == .exact)
    }

    @Test(arguments: [
        "", ":first", "a:last", "a:floor", "a:floor()", "a:floor(0)", "a:floor(-1)", "a:mod(x)", "a:floor(99999999999999999999)",
    ])
    func `refuses sections it does not know`(_ text: String) {
        #expect(throws: Problem.self) { try SectionGrouping(text) }
    }

    @Test func `cursors come back, and only to the query they belong to`() throws {
        let values: [QueryArgument] = [
            .null, .int(.min), .bool(true), .bool(false), .float(1.5), .double(-0.0), .string("é\0"), .binary([0, 255]),
            .timestamp(Timestamp(seconds: -5, nanoseconds: -1)), .decimal(.zero), .objectID(ObjectID(first: 1, last: 2)),
            .uuid(UUIDValue(first: 3, last: 4)), .link(TableKey(7), ObjectKey(8)), .list([]),
        ]
        let position = PagePosition(cells: values.map { .value($0) } + [.missing, .dictionary], key: ObjectKey(99))
        let text = PageCursor(position).text(identity: 42)
        let read = try PageCursor(text, identity: 42).position
        #expect(read.key == position.key)
        #expect("\(read.cells)" == "\(position.cells)")
        #expect(throws: Problem.self) { try PageCursor(text, identity: 43) }
        for index in 4..<text.utf8.count {
            var bytes = Array(text.utf8)
            bytes[index] = bytes[index] == 0x41 ? 0x42 : 0x41
            #expect(throws: Problem.self) { try PageCursor(String(decoding: bytes, as: UTF8.self), identity: 42) }
        }
        for length in 0..<text.count {
            #expect(throws: Problem.self) { try PageCursor(String(text.prefix(length)), identity: 42) }
        }
    }

    @Test(
        arguments: [
            ("a", ["a"]), ("a.b", ["a", "b"]), ("a[0].b", ["a", "0", "b"]), ("a[12]", ["a", "12"]), ("", nil), (".a", nil),
            ("a.", nil),
            ("a..b", nil), ("a[", nil), ("a[]", nil), ("a[x]", nil), ("a[-1]", nil), ("a[0]b", nil), ("[0]", nil),
            ("a[99999999999999999999]", nil),
        ] as [(String, [String]?)])
    func `reads property paths`(_ text: String, _ steps: [String]?) {
        let found = PropertyPath(text)?.steps.map { step in
            switch step {
            case .name(let name): return name
            case .index(let index): return String(index)
            }
        }
        #expect(found == steps)
    }

    @Test func `splits lists at plain commas only`() {
        #expect(ParameterSet.split("a,b") == ["a", "b"])
        #expect(ParameterSet.split("a['x,y'],b") == ["a['x,y']", "b"])
        #expect(ParameterSet.split("id:floor(1,2),b") == ["id:floor(1,2)", "b"])
        #expect(ParameterSet.split("") == [""])
    }
}
