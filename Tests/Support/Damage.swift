// SPDX-License-Identifier: Apache-2.0

/// Damages the bytes of a file in one of the ways that matter to a reader.
package enum Damage: String, CaseIterable, Sendable {
    case bitFlips, byteNoise, truncation, swappedRefs, cycle, oversizedCount, flags, staleHeader

    /// Returns damaged bytes; the same for the same generator state.
    package func apply(to file: [UInt8], using generator: inout SeededGenerator) -> [UInt8] {
        var bytes = file
        switch self {
        case .bitFlips:
            for _ in 0..<Int.random(in: 1...8, using: &generator) {
                let index = Int.random(in: 0..<bytes.count, using: &generator)
                bytes[index] ^= 1 << UInt8.random(in: 0..<8, using: &generator)
            }
        case .byteNoise:
            let start = Int.random(in: 0..<bytes.count, using: &generator)
            for index in start..<min(start + Int.random(in: 1...64, using: &generator), bytes.count) {
                bytes[index] = UInt8.random(in: .min ... .max, using: &generator)
            }
        case .truncation:
            let length = Int.random(in: 0..<bytes.count, using: &generator)
            bytes.removeLast(bytes.count - (Bool.random(using: &generator) ? length & ~7 : length))
        case .swappedRefs: Damage.swapRefs(&bytes, &generator)
        case .cycle: Damage.redirect(&bytes, &generator)
        case .oversizedCount:
            guard let node = Damage.nodes(in: bytes).randomElement(using: &generator) else { return bytes }
            for offset in 5...7 { bytes[node + offset] = UInt8.random(in: .min ... .max, using: &generator) }
        case .flags:
            guard let node = Damage.nodes(in: bytes).randomElement(using: &generator) else { return bytes }
            bytes[node + 4] = UInt8.random(in: .min ... .max, using: &generator)
        case .staleHeader:
            for index in 0..<24 where Bool.random(using: &generator) {
                bytes[index] ^= 1 << UInt8.random(in: 0..<8, using: &generator)
            }
        }
        return bytes
    }

    /// Offsets that look like nodes: the four bytes that files carry where a writer keeps a capacity.
    private static func nodes(in bytes: [UInt8]) -> [Int] {
        var nodes: [Int] = []
        // Plain words and a plain loop: this looks through files by the ten thousand, in debug builds.
        unsafe bytes.withUnsafeBytes { all in
            var offset = 24
            while offset < all.count - 8 {
                if unsafe all.loadUnaligned(fromByteOffset: offset, as: UInt32.self) == 0x4141_4141 { nodes.append(offset) }
                offset += 8
            }
        }
        return nodes
    }

    private static func refNodes(in bytes: [UInt8]) -> [Int] { nodes(in: bytes).filter { bytes[$0 + 4] & 0x40 != 0 } }

    private static func swapRefs(_ bytes: inout [UInt8], _ generator: inout SeededGenerator) {
        let nodes = refNodes(in: bytes)
        guard let first = nodes.randomElement(using: &generator), let second = nodes.randomElement(using: &generator)
        else { return }
        for offset in 8..<16 where max(first, second) + offset < bytes.count {
            bytes.swapAt(first + offset, second + offset)
        }
    }

    /// Writes the ref of some node into a slot of another, often of itself or of an ancestor.
    private static func redirect(_ bytes: inout [UInt8], _ generator: inout SeededGenerator) {
        let all = nodes(in: bytes)
        guard let node = refNodes(in: bytes).randomElement(using: &generator) else { return }
        let target = Bool.random(using: &generator) ? node : all.randomElement(using: &generator) ?? node
        let width = (1 << Int(bytes[node + 4] & 7)) >> 1
        guard width >= 8 else { return }
        let count = Int(bytes[node + 6]) << 8 | Int(bytes[node + 7])
        guard count > 0 else { return }
        let start = node + 8 + Int.random(in: 0..<count, using: &generator) * width / 8
        for offset in 0..<width / 8 where start + offset < bytes.count {
            bytes[start + offset] = UInt8(truncatingIfNeeded: target >> (8 * offset))
        }
    }
}
