// SPDX-License-Identifier: Apache-2.0

import RealmPlatform
import RealmTestSupport

@testable import RealmStorage

/// A value for a leaf, the bytes that it borrows, and a text to compare it by.
struct LeafSample {
    let value: Value
    var storage: ByteStorage?
    let text: String

    init(_ value: Value, _ storage: ByteStorage? = nil) {
        self.value = value
        self.storage = storage
        text = LeafSample.text(value)
    }

    /// Tells values apart by their bits.
    static func text(_ value: Value) -> String {
        switch value {
        case .string(let bytes): return "string \(bytes.count) \(bytes.array.hashValue)"
        case .binary(let bytes): return "binary \(bytes.count) \(bytes.array.hashValue)"
        case .float(let number): return "float \(number.bitPattern)"
        case .double(let number): return "double \(number.bitPattern)"
        case .decimal(let number): return "decimal \(number.low) \(number.high)"
        default: return "\(value)"
        }
    }
}

/// Makes random values of one shape. The higher the level, the greater and longer they get.
struct LeafSampler {
    let shape: ElementShape
    var random: SeededGenerator
    var level = 0

    init(_ shape: ElementShape, seed: UInt64) {
        self.shape = shape
        random = SeededGenerator(seed: seed)
    }

    mutating func roll(_ bound: Int) -> Int { Int.random(in: 0..<bound, using: &random) }

    mutating func next() -> LeafSample {
        if shape.isNullable, roll(5) == 0 { return LeafSample(.null) }
        return next(shape.type)
    }

    private mutating func next(_ type: ColumnType) -> LeafSample {
        switch type {
        case .int: return LeafSample(.int(integer()))
        case .bool: return LeafSample(.bool(roll(2) == 0))
        case .float: return LeafSample(.float([0, -0.0, .infinity, .nan, Float(integer())][roll(5)]))
        case .double: return LeafSample(.double([0, -0.0, -.infinity, .nan, Double(integer())][roll(5)]))
        case .string:
            let storage = bytes([0, 1, 4, 9, 15, 16, 63, 64, 300])
            return LeafSample(.string(storage.view), storage)
        case .binary:
            let storage = bytes([0, 1, 8, 30, 63, 64, 65, 66, 300])
            return LeafSample(.binary(storage.view), storage)
        case .timestamp: return LeafSample(.timestamp(timestamp()))
        case .decimal: return LeafSample(.decimal(decimal()))
        case .link: return LeafSample(.link(shape.targetTable, ObjectKey(integer() & 0xffff_ffff_ffff)))
        case .objectID:
            return LeafSample(.objectID(ObjectID(first: random.next(), last: UInt32(truncatingIfNeeded: random.next()))))
        case .uuid: return LeafSample(.uuid(UUIDValue(first: random.next(), last: random.next())))
        case .mixed: return mixed()
        case .backlink: return LeafSample(.null)
        }
    }

    /// Numbers around the limits of the widths up to the level.
    private mutating func integer() -> Int64 {
        let edges: [Int64] = [0, 1, 3, 15, 127, 32767, 2_147_483_647, .max]
        let edge = edges[roll(min(level + 1, edges.count))]
        let near = edge &+ Int64(roll(3)) &- 1
        return level > 3 && roll(2) == 0 ? 0 &- near : near
    }

    private mutating func bytes(_ lengths: [Int]) -> ByteStorage {
        let length = lengths[roll(min(level + 1, lengths.count))]
        return ByteStorage((0..<length).map { _ in UInt8(truncatingIfNeeded: random.next() & (level < 4 ? 0x3 : 0x7f)) })
    }

    private mutating func timestamp() -> Timestamp {
        let seconds = integer()
        let part = roll(3) == 0 ? 0 : Int32(roll(1_000_000_000))
        return Timestamp(seconds: seconds, nanoseconds: seconds < 0 ? -part : part)
    }

    private mutating func decimal() -> Decimal128 {
        let plain = Decimal128(
            isNegative: roll(2) == 0, coefficient: UInt128(integer().magnitude),
            exponent: (roll(5) - 2) * [1, 1, 45, 184][roll(4)])
        switch level {
        case 0: return .zero
        case 1: return [.zero, Decimal128(isNegative: true, coefficient: 0, exponent: 0)][roll(2)]
        case 2...5: return plain
        default: return [plain, .infinity, .notANumber, Decimal128(isNegative: false, coefficient: 7, exponent: 6000)][roll(4)]
        }
    }

    private mutating func mixed() -> LeafSample {
        switch roll(13) {
        case 0: return LeafSample(.list(.none))
        case 1: return LeafSample(.dictionary(.none))
        case 2: return LeafSample(.link(TableKey(UInt32(roll(9))), ObjectKey(Int64(roll(1000)))))
        default:
            let types: [ColumnType] = [
                .int, .bool, .float, .double, .string, .binary, .timestamp, .decimal, .objectID, .uuid,
            ]
            return next(types[roll(types.count)])
        }
    }
}
