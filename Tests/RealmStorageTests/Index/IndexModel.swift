// SPDX-License-Identifier: Apache-2.0

import Foundation
import RealmPlatform
import RealmTestSupport

@testable import RealmStorage

/// A kind of indexed property with values that meet each other at every level of an index.
enum IndexedKind: String, CaseIterable, Sendable {
    case int, optionalInt, bool, string, optionalString, timestamp, objectID, uuid, mixed

    var isMixed: Bool { self == .mixed }

    func value(_ random: inout SeededGenerator, _ texts: TextPool) -> Value {
        switch self {
        case .int: return .int(IndexedKind.int(&random))
        case .optionalInt: return Int.random(in: 0..<4, using: &random) == 0 ? .null : .int(IndexedKind.int(&random))
        case .bool: return Bool.random(using: &random) ? .null : .bool(Bool.random(using: &random))
        case .string: return .string(texts.random(&random))
        case .optionalString: return Int.random(in: 0..<5, using: &random) == 0 ? .null : .string(texts.random(&random))
        case .timestamp: return IndexedKind.timestamp(&random)
        case .objectID:
            let first = UInt64.random(in: 0...3, using: &random) << UInt64([0, 8, 32].randomElement(using: &random) ?? 0)
            return .objectID(ObjectID(first: first, last: UInt32.random(in: 0...3, using: &random)))
        case .uuid:
            return .uuid(
                UUIDValue(first: UInt64.random(in: 0...2, using: &random), last: UInt64.random(in: 0...9, using: &random)))
        case .mixed: return IndexedKind.mixed(&random, texts)
        }
    }

    /// The data of an integer are little endian: numbers that differ by multiples of 2^32 share their first key.
    private static func int(_ random: inout SeededGenerator) -> Int64 {
        let low: [Int64] = [0, 1, -1, 2, 127, 0x58, Int64.max, Int64.min, Int64.random(in: -50...50, using: &random)]
        let high: Int64 = [0, 0, 0, 1, 2, 0x58].randomElement(using: &random) ?? 0
        return (low.randomElement(using: &random) ?? 0) &+ high << 32
    }

    private static func timestamp(_ random: inout SeededGenerator) -> Value {
        let seconds = int(&random)
        let nanoseconds = Int32.random(in: 0...3, using: &random)
        return .timestamp(Timestamp(seconds: seconds, nanoseconds: seconds < 0 ? -nanoseconds : nanoseconds))
    }

    private static func mixed(_ random: inout SeededGenerator, _ texts: TextPool) -> Value {
        let small = Int64.random(in: -2...3, using: &random)
        switch Int.random(in: 0..<14, using: &random) {
        case 0: return .null
        case 1: return .int(small)
        case 2: return .double(Double(small) + [0, 0.5].randomElement(using: &random)!)
        case 3: return .float(Float(small) + [0, 0.5].randomElement(using: &random)!)
        case 4: return .decimal(Decimal128(Double(small) + [0, 0.5, 0.25].randomElement(using: &random)!))
        case 5: return .int(small << 32)
        case 6: return .double(Double(small << 32))
        case 7: return .bool(small > 0)
        case 8: return .string(texts.random(&random))
        case 9: return .binary(texts.random(&random))
        case 10: return .link(TableKey(UInt32(small + 2)), ObjectKey(Int64.random(in: 0...3, using: &random)))
        case 11: return timestamp(&random)
        case 12: return .uuid(UUIDValue(first: 0, last: UInt64.random(in: 0...3, using: &random)))
        default: return Bool.random(using: &random) ? .list(.none) : .dictionary(.none)
        }
    }
}

/// Texts that share beginnings of up to 300 bytes, and the odd ones. Owns their bytes.
final class TextPool {
    private var storages: [ByteStorage] = []

    init(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var texts: [[UInt8]] = [[], [0], [0, 0, 0, 0], [0, 0, 0, 0, 0], Array("X".utf8), Array("abcX".utf8), Array("abc".utf8)]
        texts += ["å", "åäö", "naïve", "日本語", "日本", "abcd", "abcde", "abcdX", "ab\u{0}X", "ab", "__List__"].map { Array($0.utf8) }
        for _ in 0..<6 {
            let length = [3, 4, 8, 60, 196, 199, 200, 201, 204, 300].randomElement(using: &random) ?? 0
            let prefix = [UInt8](repeating: UInt8.random(in: 0x61...0x63, using: &random), count: length)
            texts.append(prefix)
            for tail in ["a", "b", "X", "\u{0}", "tail", "longer tail"] where Bool.random(using: &random) {
                texts.append(prefix + Array(tail.utf8))
            }
        }
        storages = texts.map { ByteStorage($0) }
    }

    func random(_ random: inout SeededGenerator) -> ByteView { storages.randomElement(using: &random)?.view ?? .empty }

    /// Those that an index of complete words takes.
    var shortTexts: [[UInt8]] { storages.map(\.view.array).filter { $0.count < 200 } }
}

/// A transaction over a small file that is never committed.
struct IndexScratch {
    let snapshot: Snapshot
    let writes: WriteSpace

    init(byteCount: Int = 1 << 26) throws {
        snapshot = try Snapshot(file: try RealmFile(path: try Fixtures.path("store")))
        writes = WriteSpace(base: snapshot.space, arena: try NodeArena(byteCount: byteCount))
    }
}

extension IndexCapacity {
    /// Nodes and lists of a few entries, so that trees grow deep early.
    static func small(_ size: Int) -> IndexCapacity { IndexCapacity(ofNodes: size, ofLists: size) }
}
