// SPDX-License-Identifier: Apache-2.0

import RealmPlatform
import RealmTestSupport
import Testing

@testable import RealmStorage

/// The nodes of leaves, element by element: other programs rely on more than what our readers look at.
@Suite struct LeafLayoutTests {
    private let scratch: WriteScratch
    private var writes: WriteSpace { scratch.writes }

    init() throws { scratch = try WriteScratch() }

    private func writer(_ type: ColumnType, _ isNullable: Bool = false, inCluster: Bool = true) -> LeafWriter {
        LeafWriter(
            writes, ElementShape(type: type, isNullable: isNullable, targetTable: TableKey(1)), inCluster: inCluster)
    }

    private func leaf(_ writer: LeafWriter, _ values: [Value]) throws -> Node {
        var leaf = try writer.makeEmpty()
        for value in values { leaf = try writer.append(value, to: leaf) }
        return try writes.node(at: leaf)
    }

    private func integers(_ node: Node) -> [Int64] { (0..<node.count).map { node.integer($0) } }

    private func child(_ node: Node, _ slot: Int) throws -> Node { try writes.node(at: try node.requiredRef(slot, "child")) }

    // MARK: - Numbers

    @Test(
        arguments: [
            ([nil, nil], 0, [0, 0, 0]),
            ([0], 1, [1, 0]),
            ([0, nil, 1], 2, [3, 0, 3, 1]),
            ([2, nil], 2, [3, 2, 3]),
            ([3, 14], 4, [15, 3, 14]),
            ([15, nil], 8, [127, 15, 127]),
            ([127, 3], 16, [32767, 127, 3]),
            ([-128], 8, [127, -128]),
            ([nil, -129], 16, [32767, 32767, -129]),
            ([32767], 32, [2_147_483_647, 32767]),
            ([2_147_483_646, nil], 32, [2_147_483_647, 2_147_483_646, 2_147_483_647]),
            ([2_147_483_647, nil], 64, [.max, 2_147_483_647, .max]),
        ] as [([Int64?], Int, [Int64])])
    func `The null marker is the greatest number of the width`(_ values: [Int64?], _ width: Int, _ expected: [Int64]) throws {
        let node = try leaf(writer(.int, true), values.map { $0.map(Value.int) ?? .null })
        #expect(node.flags & 0xf8 == 0)
        #expect(node.width == width)
        #expect(integers(node) == expected)
    }

    @Test func `With 64 bits a value that equals the marker chooses another marker`() throws {
        let node = try leaf(writer(.int, true), [.null, .int(1 << 40), .int(.max), .null])
        let marker = node.integer(0)
        #expect(marker != .max && marker != 1 << 40)
        #expect(integers(node) == [marker, marker, 1 << 40, .max, marker])
    }

    @Test func `A marker that is not the greatest number is replaced before anything else enters`() throws {
        let foreign = try writes.makeIntegers([5, 127, 5, -3])
        let node = try writes.node(at: try writer(.int, true).append(.int(6), to: foreign.ref))
        #expect(integers(node) == [32767, 127, 32767, -3, 6])
    }

    @Test func `Booleans, links and refs are plain integers`() throws {
        #expect(try integers(leaf(writer(.bool, true), [.bool(true), .null, .bool(false)])) == [1, 3, 0])
        let links: [Value] = [.link(TableKey(1), ObjectKey(4)), .link(TableKey(1), ObjectKey(-3))]
        #expect(try integers(leaf(writer(.link), links + [.null])) == [5, -2, 0])
        #expect(try integers(leaf(writer(.link, inCluster: false), links)) == [4, -3])
        let backlinks = LeafWriter(writes, .refs, inCluster: true)
        let node = try writes.node(at: try backlinks.setTagged(ObjectKey(7), at: 1, in: try backlinks.makeDefaults(count: 2)))
        #expect(node.flags & 0xf8 == 0x40)
        #expect(integers(node) == [0, 15])
    }

    @Test func `A date is a nullable second and a nanosecond`() throws {
        let node = try leaf(writer(.timestamp, true), [.timestamp(Timestamp(seconds: 127, nanoseconds: 5)), .null])
        #expect(node.flags & 0xf8 == 0x40)
        #expect(try integers(child(node, 0)) == [32767, 127, 32767])
        #expect(try integers(child(node, 1)) == [5, 0])
    }

    @Test func `A NaN with the bits of null is stored as the usual one`() throws {
        let double = Double(bitPattern: DoubleLeaf.nullBits)
        let node = try leaf(writer(.double, true), [.double(double), .null])
        #expect(node.flags == 0x0c)
        #expect(node.load(byteOffset: 0, as: UInt64.self) == 0x7ff8_0000_0000_0000)
        #expect(node.load(byteOffset: 8, as: UInt64.self) == 0x7ff8_0000_0000_00aa)
        let float = try leaf(writer(.float, true), [.float(Float(bitPattern: FloatLeaf.nullBits)), .null])
        #expect(float.flags == 0x0b)
        #expect(float.bytes.array == [0, 0, 0xc0, 0x7f, 0xaa, 0, 0xc0, 0x7f])
    }

    // MARK: - Decimals

    @Test func `Decimals take 0, 4, 8 or 16 bytes`() throws {
        let zeros = try leaf(writer(.decimal), [.decimal(.zero), .decimal(.zero)])
        #expect(zeros.flags == 0x28 && zeros.count == 2)
        let nulls = try leaf(writer(.decimal, true), [.null, .null])
        #expect(nulls.flags == 0x08 && nulls.count == 2)
        let both = try leaf(writer(.decimal, true), [.null, .decimal(.zero)])
        #expect(both.flags == 0x0b)
        #expect(both.bytes.array == [0xaa, 0, 0, 0x7c, 0, 0, 0x80, 0x32])
        let minusZero = Decimal128(isNegative: true, coefficient: 0, exponent: 0)
        #expect(try leaf(writer(.decimal), [.decimal(.zero), .decimal(minusZero)]).flags == 0x0b)
        let long = Decimal128(isNegative: false, coefficient: 1 << 23, exponent: 0)
        #expect(try leaf(writer(.decimal), [.decimal(long)]).flags == 0x0c)
        for (exponent, flags) in [(90, 0x0b), (-90, 0x0b), (-91, 0x0c), (369, 0x0c), (-370, 0x0d)] as [(Int, UInt8)] {
            let number = Decimal128(isNegative: false, coefficient: 1, exponent: exponent)
            #expect(try leaf(writer(.decimal), [.decimal(number)]).flags == flags, "exponent \(exponent)")
        }
        #expect(try leaf(writer(.decimal), [.decimal(.infinity)]).flags == 0x0d)
        #expect(try leaf(writer(.decimal), [.decimal(.notANumber)]).flags == 0x0d)
    }

    // MARK: - Strings and binaries

    @Test func `Short strings have cells of the least power of two above their length`() throws {
        let texts = ["", "a", "abc", "abcd"].map { ByteStorage($0) }
        #expect(try leaf(writer(.string, true), [.null, .null]).flags == 0x08)
        #expect(try leaf(writer(.string, true), [.string(texts[0].view), .null]).bytes.array == [0, 1])
        let node = try leaf(writer(.string, true), [.string(texts[2].view), .null, .string(texts[1].view)])
        #expect(node.flags == 0x0b)
        #expect(node.bytes.array == [97, 98, 99, 0, 0, 0, 0, 4, 97, 0, 0, 2])
        #expect(try leaf(writer(.string), [.string(texts[3].view)]).bytes.array == [97, 98, 99, 100, 0, 0, 0, 3])
    }

    @Test func `Strings of 16 bytes make a leaf medium, those of 64 bytes big`() throws {
        let texts = ["ab", String(repeating: "x", count: 16), String(repeating: "y", count: 64)].map { ByteStorage($0) }
        let medium = try leaf(writer(.string, true), [.string(texts[0].view), .null, .string(texts[1].view)])
        #expect(medium.flags & 0xf8 == 0x40 && medium.count == 3)
        #expect(try integers(child(medium, 0)) == [3, 4, 21])
        #expect(try child(medium, 1).flags & 0xf8 == 0x10)
        #expect(try child(medium, 1).bytes.array == [97, 98, 0, 0] + Array(repeating: 120, count: 16) + [0])
        #expect(try integers(child(medium, 2)) == [0, 1, 0])
        let big = try leaf(writer(.string, true), [.string(texts[0].view), .null, .string(texts[2].view)])
        #expect(big.flags & 0xf8 == 0x60 && big.integer(1) == 0)
        #expect(try child(big, 0).flags == 0x11)
        #expect(try child(big, 0).bytes.array == [97, 98, 0])
        #expect(try child(big, 2).bytes.count == 65)
    }

    @Test func `Binaries have no terminators; 65 bytes make a leaf big`() throws {
        let values = [ByteStorage(Array(repeating: 7, count: 64)), ByteStorage(Array(repeating: 8, count: 65))]
        let medium = try leaf(writer(.binary, true), [.binary(.empty), .null, .binary(values[0].view)])
        #expect(medium.flags & 0xf8 == 0x40)
        #expect(try integers(child(medium, 0)) == [0, 0, 64])
        #expect(try integers(child(medium, 2)) == [0, 1, 0])
        let big = try leaf(writer(.binary, true), [.binary(.empty), .null, .binary(values[1].view)])
        #expect(big.flags & 0xf8 == 0x60 && big.integer(1) == 0)
        #expect(try child(big, 0).count == 0)
        #expect(try child(big, 2).bytes.count == 65)
    }

    @Test func `The longest string has 16777199 bytes, the longest binary one more`() throws {
        let longest = ByteStorage([UInt8](repeating: 1, count: 16_777_200))
        let string = longest.view.slice(0, 16_777_199)
        let node = try leaf(writer(.string), [.string(string)])
        #expect(try child(node, 0).count == 16_777_200)
        #expect(throws: StorageError.self) { try leaf(writer(.string), [.string(longest.view)]) }
        #expect(try leaf(writer(.mixed), [.string(string)]).count == 6)
        #expect(throws: StorageError.self) { try leaf(writer(.mixed), [.binary(longest.view)]) }
        #expect(try child(try leaf(writer(.binary), [.binary(longest.view)]), 0).count == 16_777_200)
        let tooLong = ByteStorage([UInt8](repeating: 1, count: 16_777_201))
        #expect(throws: StorageError.self) { try leaf(writer(.binary), [.binary(tooLong.view)]) }
    }

    // MARK: - Ids and Mixed

    @Test func `Nine ids are a full block and one more`() throws {
        let ids = (0..<9).map { ObjectID(first: 0x0102_0304_0506_0708, last: UInt32($0)) }
        let node = try leaf(writer(.objectID, true), ids.map(Value.objectID) + [.null])
        #expect(node.flags == 0x09 && node.count == 1 + 8 * 12 + 1 + 2 * 12)
        #expect(node.bytes.slice(0, 13).array == [0, 1, 2, 3, 4, 5, 6, 7, 8, 0, 0, 0, 0])
        #expect(node.bytes.slice(97, 110).array == [2, 1, 2, 3, 4, 5, 6, 7, 8, 0, 0, 0, 8])
    }

    @Test func `Mixed has a word for each value, and payloads beside`() throws {
        let text = ByteStorage("hi")
        let node = try leaf(
            writer(.mixed),
            [
                .null, .int(-2), .bool(true), .int(1 << 31), .double(1.5), .string(text.view),
                .timestamp(Timestamp(seconds: 9, nanoseconds: 8)), .link(TableKey(5), ObjectKey(6)), .list(.none),
            ])
        #expect(node.flags & 0xf8 == 0x40 && node.count == 6)
        // Value or position in bits 8 and up, slot of the payload in bits 7:5, type number plus 1 below.
        let words: [Int64] = [0, -0x1ff, 0x102, 0x21, 0x12b, 0x63, 0x49, 0x151, 0x94]
        #expect(try integers(child(node, 0)) == words)
        #expect(try integers(child(node, 1)) == [1 << 31, Int64(bitPattern: (1.5).bitPattern)])
        #expect(try integers(child(node, 2)) == [9, 8, 5, 6])
        #expect(try child(node, 3).bytes.array == [104, 105, 0, 1])
        #expect(try child(node, 4).flags & 0xf8 == 0x40)
        #expect(try integers(child(node, 4)) == [0])
        let ids = integers(try child(node, 5))
        #expect(ids.count == 9 && ids.dropLast().allSatisfy { $0 == 0 } && ids[8] != 0 && Int32(exactly: ids[8]) != nil)
    }

    @Test func `A Mixed leaf of four slots grows, and a short list of ids is completed`() throws {
        let writer = writer(.mixed)
        var top = try writes.makeNode(.refs, count: 4)
        try top.set(0, try writes.makeIntegers([0, 0]).ref)
        let grown = try writes.node(at: try writer.append(.int(1), to: top.ref))
        #expect(try grown.count == 6 && integers(child(grown, 0)) == [0, 0, 257])
        let nested = try writes.node(at: try writer.set(.dictionary(.none), at: 0, in: grown.ref))
        var short = try writes.writable(nested.ref)
        try short.set(5, try writes.makeIntegers([77]).ref)
        let done = try writes.node(at: try writer.insertDefault(at: 1, in: short.ref))
        #expect(try integers(child(done, 5)) == [77, 0, 0, 0])
    }

    // MARK: - Mistakes

    @Test func `A value that does not fit the leaf is refused`() throws {
        for shape in LeafWriterTests.shapes where shape.shape.type != .mixed {
            let writer = LeafWriter(writes, shape.shape, inCluster: shape.inCluster)
            let leaf = try writer.makeEmpty()
            #expect(throws: StorageError.self, "\(shape)") { try writer.append(.list(.none), to: leaf) }
            guard !shape.shape.isNullable else { continue }
            #expect(throws: StorageError.self, "\(shape)") { try writer.append(.null, to: leaf) }
        }
        let date = Value.timestamp(Timestamp(seconds: 1, nanoseconds: -1))
        #expect(throws: StorageError.self) { try leaf(writer(.timestamp), [date]) }
        #expect(throws: StorageError.self) { try leaf(writer(.mixed), [date]) }
        #expect(throws: StorageError.self) { try leaf(writer(.link), [.link(TableKey(2), ObjectKey(0))]) }
    }

    @Test(arguments: LeafWriterTests.shapes)
    func `A row outside the leaf is refused`(_ shape: LeafWriterTests.Shape) throws {
        let writer = LeafWriter(writes, shape.shape, inCluster: shape.inCluster)
        var sampler = LeafSampler(shape.shape, seed: 1)
        let sample = sampler.next()
        let leaf = try writer.append(sample.value, to: try writer.makeEmpty())
        for row in [-1, 1, .max] {
            #expect(throws: StorageError.self) { try writer.erase(row, in: leaf) }
            #expect(throws: StorageError.self) { try writer.set(sample.value, at: row, in: leaf) }
        }
        for row in [-1, 2, .max - 1] {
            #expect(throws: StorageError.self) { try writer.insert(sample.value, at: row, in: leaf) }
            #expect(throws: StorageError.self) { try writer.split(leaf, at: row) }
        }
    }
}
