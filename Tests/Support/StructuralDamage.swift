// SPDX-License-Identifier: Apache-2.0

/// Damages a file in the places where a reader or a writer would follow it: refs, counts, flags, sizes, numbers with a
/// meaning. `Damage` flips bytes; this knows which node is which.
///
/// The same seed makes the same file from the same original.
package struct StructuralDamage: Sendable {
    /// One node of the original, and the slots from the top node to it.
    package struct Node: Sendable {
        package let ref: Int
        package let path: [Int]
        package let flags: UInt8
        package let count: Int

        var width: Int { (1 << Int(flags & 7)) >> 1 }
        var widthType: Int { Int(flags >> 3) & 3 }
        var hasRefs: Bool { flags & 0x40 != 0 }

        var byteCount: Int {
            let payload = widthType == 0 ? (count * width + 7) / 8 : widthType == 1 ? count * width : count
            return 8 + (payload + 7) & ~7
        }
    }

    /// What part of the file a node belongs to.
    package enum Part: String, CaseIterable, Sendable {
        case top, free, history, names, tables, table, spec, cluster, index, tombstones, tablePart, other
    }

    private let original: [UInt8]
    private let nodes: [Node]
    private let parts: [Part: [Node]]
    private let positions: [[Int]: Int]
    /// The parts that have nodes, in a fixed order.
    private let present: [Part]
    private let isPartial: Bool

    /// Finds the nodes of a plain file. With `parts` the others are left alone.
    package init(_ original: [UInt8], parts wanted: Set<Part>? = nil) {
        self.original = original
        nodes = StructuralDamage.walk(original)
        let parts = Dictionary(grouping: nodes) { StructuralDamage.part(of: $0.path) }
        self.parts = parts
        positions = Dictionary(nodes.enumerated().map { ($1.path, $0) }, uniquingKeysWith: { first, _ in first })
        let all = Part.allCases.filter { parts[$0] != nil }
        let chosen = all.filter { wanted?.contains($0) ?? true }
        present = chosen.isEmpty ? all : chosen
        isPartial = wanted != nil
    }

    // MARK: - The nodes of a file

    private static func walk(_ bytes: [UInt8]) -> [Node] {
        guard bytes.count >= 24 else { return [] }
        var found: [Node] = []
        var seen: Set<Int> = []
        var pending: [(ref: Int, path: [Int])] = [(FileEditor(bytes).topRef, [])]
        while let (ref, path) = pending.popLast() {
            guard ref & 7 == 0, ref >= 24, ref + 8 <= bytes.count, seen.insert(ref).inserted else { continue }
            let count = Int(bytes[ref + 5]) << 16 | Int(bytes[ref + 6]) << 8 | Int(bytes[ref + 7])
            let node = Node(ref: ref, path: path, flags: bytes[ref + 4], count: count)
            guard ref + node.byteCount <= bytes.count else { continue }
            found.append(node)
            for index in refSlots(of: node, in: bytes) {
                pending.append((Int(element(index, of: node, in: bytes)), path + [index]))
            }
        }
        return found
    }

    private static func part(of path: [Int]) -> Part {
        guard let first = path.first else { return .top }
        switch first {
        case 0: return .names
        case 3, 4, 5: return .free
        case 8: return .history
        case 1: break
        default: return .other
        }
        guard path.count > 2 else { return path.count == 1 ? .tables : .table }
        switch path[2] {
        case 0: return .spec
        case 2: return .cluster
        case 4: return .index
        case 13: return .tombstones
        default: return .tablePart
        }
    }

    // MARK: - Elements

    private static func element(_ index: Int, of node: Node, in bytes: [UInt8]) -> Int64 {
        let width = node.width
        guard width > 0 else { return 0 }
        guard width >= 8 else {
            let bit = index * width
            return Int64(bytes[node.ref + 8 + bit / 8] >> UInt8(bit % 8)) & ((1 << Int64(width)) - 1)
        }
        let start = node.ref + 8 + index * width / 8
        let raw = (0..<width / 8).reduce(UInt64(0)) { $0 | UInt64(bytes[start + $1]) << UInt64(8 * $1) }
        return Int64(bitPattern: raw << UInt64(64 - width)) >> Int64(64 - width)
    }

    private static func set(_ index: Int, of node: Node, _ value: Int64, in bytes: inout [UInt8]) {
        let width = node.width
        guard width > 0 else { return }
        guard width >= 8 else {
            let bit = index * width
            let mask = UInt8((1 << width) - 1) << UInt8(bit % 8)
            let offset = node.ref + 8 + bit / 8
            bytes[offset] = bytes[offset] & ~mask | UInt8(truncatingIfNeeded: value << Int64(bit % 8)) & mask
            return
        }
        let start = node.ref + 8 + index * width / 8
        for offset in 0..<width / 8 { bytes[start + offset] = UInt8(truncatingIfNeeded: value >> Int64(8 * offset)) }
    }

    private static func refSlots(of node: Node, in bytes: [UInt8]) -> [Int] {
        guard node.hasRefs, node.widthType == 0, node.width >= 8 else { return [] }
        return (0..<node.count).filter { index in
            let value = element(index, of: node, in: bytes)
            return value > 0 && value & 1 == 0
        }
    }

    private static func tagSlots(of node: Node, in bytes: [UInt8]) -> [Int] {
        guard node.hasRefs, node.widthType == 0, node.width >= 8 else { return [] }
        return (0..<node.count).filter { element($0, of: node, in: bytes) & 1 == 1 }
    }

    // MARK: - Damage

    private static let interesting: [Int64] = [
        0, 1, 2, 3, 7, 8, 16, 24, 255, 256, 257, 1000, 65535, 65536, 0xff_fffe, 0xff_ffff, 1 << 24, 1 << 24 + 1, 1 << 31 - 1,
        1 << 31,
        1 << 32 - 1, 1 << 32, 1 << 55, 1 << 56, 1 << 62 - 1, 1 << 62, .max, -1, -2, -8, -1 << 31, -1 << 62, .min,
    ]

    private static let counts = [0, 1, 2, 255, 256, 257, 1000, 1001, 0xffff, 0x10000, 0x7f_ffff, 0x80_0000, 0xff_fffe, 0xff_ffff]

    /// What is done, each as often as it stands here.
    private enum Operation: CaseIterable {
        case swap, cycle, other, badRef, size, flags, retag, tag, value, free, logicalSize, history, copy, share, fill, text
        case version, spec, index, truncation, slots, header, parallel

        var weight: Int {
            switch self {
            case .swap, .cycle, .size, .flags, .tag, .free, .spec, .index, .share, .parallel: return 2
            case .value: return 3
            default: return 1
            }
        }

        static let bag = allCases.flatMap { Array(repeating: $0, count: $0.weight) }
        /// Those that would leave the chosen parts of a file.
        var isAnywhere: Bool {
            switch self {
            case .logicalSize, .version, .header, .truncation, .slots, .spec, .free, .history: return true
            default: return false
            }
        }
    }

    /// A damaged copy, and what was done to it.
    package func apply(seed: UInt64) -> (bytes: [UInt8], log: [String]) {
        var generator = SeededGenerator(seed: seed)
        var bytes = original
        var log: [String] = []
        guard !nodes.isEmpty else { return (bytes, ["the file has no nodes"]) }
        for _ in 0..<(pick([1, 1, 1, 2, 2, 3, 5], &generator)) {
            let operation = pick(Operation.bag, &generator)
            if isPartial, operation.isAnywhere { continue }
            if let done = apply(operation, &bytes, &generator) { log.append(done) }
            if bytes.count != original.count { break }
        }
        return (bytes, log)
    }

    private func pick<Element>(_ list: [Element], _ generator: inout SeededGenerator) -> Element {
        list[Int.random(in: 0..<list.count, using: &generator)]
    }

    private func number(_ range: Range<Int>, _ generator: inout SeededGenerator) -> Int {
        range.isEmpty ? range.lowerBound : Int.random(in: range, using: &generator)
    }

    /// A node of any part that the test accepts; every part is as likely as any other.
    private func node(_ generator: inout SeededGenerator, _ accepts: (Node) -> Bool = { _ in true }) -> Node? {
        for _ in 0..<40 {
            let node = pick(parts[pick(present, &generator)] ?? nodes, &generator)
            if accepts(node) { return node }
        }
        return nil
    }

    private func node(in part: Part, _ generator: inout SeededGenerator) -> Node? {
        parts[part].map { pick($0, &generator) }
    }

    private func apply(_ operation: Operation, _ bytes: inout [UInt8], _ generator: inout SeededGenerator) -> String? {
        switch operation {
        case .swap, .cycle, .other, .badRef, .share: return applyToRefs(operation, &bytes, &generator)
        case .size, .flags, .copy, .fill, .text, .parallel: return applyToNodes(operation, &bytes, &generator)
        case .retag, .tag, .value, .free, .history, .spec, .index: return applyToElements(operation, &bytes, &generator)
        case .logicalSize, .version, .slots, .truncation, .header: return applyToFile(operation, &bytes, &generator)
        }
    }

    // MARK: - Refs

    private func applyToRefs(_ operation: Operation, _ bytes: inout [UInt8], _ generator: inout SeededGenerator) -> String? {
        let before = bytes
        guard let node = node(&generator, { !StructuralDamage.refSlots(of: $0, in: before).isEmpty }) else { return nil }
        let slots = StructuralDamage.refSlots(of: node, in: bytes)
        let slot = pick(slots, &generator)
        let old = StructuralDamage.element(slot, of: node, in: bytes)
        let new: Int64
        switch operation {
        case .swap:
            guard let other = self.node(&generator, { !StructuralDamage.refSlots(of: $0, in: before).isEmpty }) else {
                return nil
            }
            let otherSlot = pick(StructuralDamage.refSlots(of: other, in: bytes), &generator)
            new = StructuralDamage.element(otherSlot, of: other, in: bytes)
            StructuralDamage.set(otherSlot, of: other, old, in: &bytes)
        case .cycle:
            let length = number(0..<max(node.path.count, 1), &generator)
            let up = number(0..<10, &generator) < 7 ? Array(node.path.prefix(length)) : node.path
            new = Int64(nodes[positions[up] ?? 0].ref)
        case .share: new = StructuralDamage.element(pick(slots, &generator), of: node, in: bytes)
        case .badRef:
            let size = Int64(bytes.count)
            new = pick(
                [
                    old + 8, old - 8, old + 2, size, size - 8, size - 16, 8, 16, 24, 1 << 40, 1 << 46, .max - 7, -8, .min,
                    Int64(number(0..<bytes.count / 8, &generator) * 8),
                ], &generator)
        default:
            let isSameKind = number(0..<10, &generator) < 6
            let candidates = isSameKind ? parts[StructuralDamage.part(of: node.path)] ?? nodes : nodes
            new = Int64(pick(candidates, &generator).ref)
        }
        StructuralDamage.set(slot, of: node, new, in: &bytes)
        return "\(operation) \(node.path)[\(slot)] \(old) -> \(new)"
    }

    // MARK: - Nodes

    private func applyToNodes(_ operation: Operation, _ bytes: inout [UInt8], _ generator: inout SeededGenerator) -> String? {
        guard let node = node(&generator) else { return nil }
        switch operation {
        case .size: return setCount(of: node, &bytes, &generator)
        case .parallel:
            // The arrays of a table that go with each other: spec, indexes, opposites.
            guard let one = self.node(in: number(0..<2, &generator) == 0 ? .spec : .tablePart, &generator) else { return nil }
            return setCount(of: one, &bytes, &generator)
        case .flags:
            let bit = pick([0x80, 0x40, 0x20, 0x10, 0x08, 0xc0, 1, 2, 4, 3, 7, 5] as [UInt8], &generator)
            let new = number(0..<10, &generator) < 8 ? node.flags ^ bit : UInt8(number(0..<256, &generator))
            bytes[node.ref + 4] = new
            return "flags \(node.path) \(node.flags) -> \(new)"
        case .copy:
            guard let target = self.node(&generator) else { return nil }
            let size = min(node.byteCount, target.byteCount, pick([8, 16, 64, 1 << 20], &generator))
            for offset in 0..<size { bytes[target.ref + offset] = bytes[node.ref + offset] }
            return "copy \(node.path) to \(target.path), \(size) bytes"
        case .fill:
            let size = pick([8, node.byteCount, 4], &generator)
            let byte = pick([0, 255, 0x41] as [UInt8], &generator)
            for offset in 0..<size { bytes[node.ref + offset] = byte }
            return "fill \(node.path) with \(byte)"
        default:
            guard node.byteCount > 8 else { return nil }
            for _ in 0..<pick([1, 4, 16], &generator) {
                let byte = pick([0, 0xff, 0xc0, 0xed, 0xf4, 0x80, UInt8(number(0..<256, &generator))], &generator)
                bytes[node.ref + 8 + number(0..<node.byteCount - 8, &generator)] = byte
            }
            return "text \(node.path)"
        }
    }

    private func setCount(of node: Node, _ bytes: inout [UInt8], _ generator: inout SeededGenerator) -> String {
        let near = [
            node.count - 1, node.count + 1, node.count + 2, node.count * 2, node.count / 2, number(0..<1 << 24, &generator),
        ]
        let new = pick(StructuralDamage.counts + near + near, &generator) & 0xff_ffff
        for step in 0..<3 { bytes[node.ref + 5 + step] = UInt8(truncatingIfNeeded: new >> (16 - 8 * step)) }
        return "size \(node.path) \(node.count) -> \(new)"
    }

    // MARK: - Elements

    private func applyToElements(_ operation: Operation, _ bytes: inout [UInt8], _ generator: inout SeededGenerator) -> String? {
        let before = bytes
        let chosen: Node?
        switch operation {
        case .retag: chosen = node(&generator) { $0.hasRefs && $0.widthType == 0 && $0.width >= 8 && $0.count > 0 }
        case .tag: chosen = node(&generator) { !StructuralDamage.tagSlots(of: $0, in: before).isEmpty }
        case .value: chosen = node(&generator) { $0.count > 0 && $0.width > 0 }
        case .free: chosen = node(in: .free, &generator)
        case .history: chosen = node(in: .history, &generator)
        case .index: chosen = node(in: .index, &generator)
        default: chosen = node(in: number(0..<2, &generator) == 0 ? .spec : .tablePart, &generator)
        }
        guard let node = chosen, node.count > 0, node.width > 0 else { return nil }
        guard node.widthType == 0 else {
            let offset = node.ref + 8 + number(0..<max(node.byteCount - 8, 1), &generator)
            guard offset < bytes.count else { return nil }
            let old = bytes[offset]
            let flipped = old ^ 1 << UInt8(number(0..<8, &generator))
            bytes[offset] = pick([0, 255, 128, flipped, UInt8(node.width), UInt8(node.width - 1)], &generator)
            return "byte \(node.path) at \(offset) \(old) -> \(bytes[offset])"
        }
        let slot =
            operation == .tag
            ? pick(StructuralDamage.tagSlots(of: node, in: bytes), &generator) : number(0..<node.count, &generator)
        let old = StructuralDamage.element(slot, of: node, in: bytes)
        let new = value(operation, old, node, bytes, &generator)
        StructuralDamage.set(slot, of: node, new, in: &bytes)
        return "\(operation) \(node.path)[\(slot)] \(old) -> \(new)"
    }

    private func value(
        _ operation: Operation, _ old: Int64, _ node: Node, _ bytes: [UInt8], _ generator: inout SeededGenerator
    ) -> Int64 {
        switch operation {
        case .retag: return pick([old ^ 1, 0, 1], &generator)
        case .tag:
            if node.width < 64, number(0..<2, &generator) == 0 { return pick([old &+ 2, old &- 2, 1], &generator) }
            return pick(StructuralDamage.interesting + [old >> 1 &+ 1, old >> 1 &- 1], &generator) << 1 | 1
        case .free:
            let live = pick(nodes, &generator)
            let another = StructuralDamage.element(number(0..<node.count, &generator), of: node, in: bytes)
            return pick(
                [
                    Int64(live.ref), Int64(live.ref + 8), Int64(live.byteCount), old &+ 8, old &- 8, old &* 2,
                    old &+ Int64(live.byteCount), Int64(bytes.count), 0, 8, 24, 1, 3, 1 << 62, -8, another,
                ], &generator)
        default:
            let noise = Int64(truncatingIfNeeded: generator.next())
            return pick(StructuralDamage.interesting + [old &+ 1, old &- 1, old ^ 1, old &* 2, 0 &- old, noise], &generator)
        }
    }

    // MARK: - The file

    private func applyToFile(_ operation: Operation, _ bytes: inout [UInt8], _ generator: inout SeededGenerator) -> String? {
        guard let top = parts[.top]?.first, top.count > 2 else { return nil }
        switch operation {
        case .logicalSize:
            let old = StructuralDamage.element(2, of: top, in: bytes) >> 1
            let new = pick(
                [
                    old + 8, old - 8, old / 2, old * 2, 24, 0, 8, Int64(bytes.count), Int64(bytes.count) + 8, 1 << 40, 1 << 61,
                    old - 4, old - 4096, old + 4096, Int64(number(0..<bytes.count / 8, &generator) * 8),
                ], &generator)
            StructuralDamage.set(2, of: top, new << 1 | 1, in: &bytes)
            return "logical size \(old) -> \(new)"
        case .version:
            let slot = min(number(6..<max(7, top.count), &generator), top.count - 1)
            let new = pick(StructuralDamage.interesting, &generator) << 1 | pick([0, 1, 1, 1], &generator)
            StructuralDamage.set(slot, of: top, new, in: &bytes)
            return "top[\(slot)] -> \(new)"
        case .slots:
            let specs = (parts[.spec] ?? []).filter { $0.path.count == 3 }
            let node = pick((parts[.table] ?? []) + [top] + specs, &generator)
            guard node.count > 1, node.width >= 8 else { return nil }
            let (first, second) = (number(0..<node.count, &generator), number(0..<node.count, &generator))
            let old = StructuralDamage.element(first, of: node, in: bytes)
            StructuralDamage.set(first, of: node, StructuralDamage.element(second, of: node, in: bytes), in: &bytes)
            StructuralDamage.set(second, of: node, old, in: &bytes)
            return "slots \(node.path) \(first) and \(second)"
        case .truncation:
            guard number(0..<10, &generator) < 4 else { return nil }
            let size = bytes.count
            let end = pick([size - 8, size - 4096, size / 2 & ~7, size / 2 & ~4095, 24, 32], &generator)
            bytes.removeLast(size - max(min(end, size), 0))
            return "truncated to \(bytes.count)"
        default:
            let offset = pick([0, 8, 20, 21, 22, 23], &generator)
            guard offset < 20 else {
                bytes[offset] = pick([0, 1, 9, 20, 22, 23, 24, 25, 255], &generator)
                return "header \(offset) -> \(bytes[offset])"
            }
            let value = pick([UInt64(pick(nodes, &generator).ref), .max, 0, 8, 24, UInt64(bytes.count), 1 << 63], &generator)
            for step in 0..<8 { bytes[offset + step] = UInt8(truncatingIfNeeded: value >> UInt64(8 * step)) }
            return "header \(offset) -> \(value)"
        }
    }
}

extension FileEditor {
    /// The top ref as the header, or the footer of streaming form, has it; whatever it may be.
    var topRef: Int {
        let slot = Int(bytes[23] & 1)
        let ref = number(at: 8 * slot, byteCount: 8)
        guard slot == 0, ref == .max, bytes.count >= 40 else { return Int(clamping: ref) }
        return Int(clamping: number(at: bytes.count - 16, byteCount: 8))
    }
}
