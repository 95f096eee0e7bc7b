// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform
internal import RealmStorage

/// Proves that there is nothing to report about the values of a leaf, without making a `Value` of each of them.
///
/// It knows the most common forms of leaves. Values it does not prove are left to `LeafCheck` and `CellCheck`, which report
/// errors, so its answers never change a report. Links are not its subject: see `LinkCheck`.
struct LeafProof {
    /// Whether values may be null.
    private let isNullable: Bool

    /// Makes a proof for leaves of one column.
    init(isNullable: Bool) { self.isNullable = isNullable }

    /// Returns whether it is proved that all values of a leaf are sound.
    func proves(_ leaf: ColumnLeaf) -> Bool {
        switch leaf {
        case .int(let leaf): return isNullable || !leaf.isNullable
        case .bool(let leaf): return proves(leaf)
        case .string(let leaf): return proves(leaf)
        case .timestamp(let leaf): return proves(leaf)
        case .float(let leaf): return isNullable || (0..<leaf.count).allSatisfy { leaf.float($0) != nil }
        case .double(let leaf): return isNullable || (0..<leaf.count).allSatisfy { leaf.double($0) != nil }
        case .decimal(let leaf): return isNullable || (0..<leaf.count).allSatisfy { leaf.decimal($0) != nil }
        case .identifier(let leaf): return isNullable || (0..<leaf.count).allSatisfy { leaf.offset($0) != nil }
        case .binary(let leaf): return proves(leaf)
        case .mixed(let leaf): return proves(leaf)
        case .link: return false
        }
    }

    /// Returns whether all booleans are false, true, or null where they may be.
    private func proves(_ leaf: BoolLeaf) -> Bool {
        guard leaf.elements.width > 1 else { return true }
        return (0..<leaf.count).allSatisfy { row in
            let element = leaf.elements[row]
            return element == 0 || element == 1 || element == BoolLeaf.nullElement && isNullable
        }
    }

    /// Returns whether the parts of all dates belong together.
    private func proves(_ leaf: TimestampLeaf) -> Bool {
        do throws(StorageError) {
            for row in 0..<leaf.count { guard try leaf.timestamp(row) != nil || isNullable else { return false } }
            return true
        } catch { return false }
    }

    /// Returns whether all binaries lie where their leaf says.
    private func proves(_ leaf: BinaryLeaf) -> Bool {
        do throws(StorageError) {
            try leaf.medium?.requireOrder()
            for row in 0..<leaf.count { guard try leaf.binary(row) != nil || isNullable else { return false } }
            return true
        } catch { return false }
    }

    /// Returns whether a leaf has only plain values, no two of which share a payload.
    private func proves(_ leaf: MixedLeaf) -> Bool {
        do throws(StorageError) {
            if let strings = try leaf.strings(), !LeafProof(isNullable: true).proves(strings) { return false }
            let payloads = try leaf.attachPayloads()
            var known = PayloadMarks()
            for row in 0..<leaf.count {
                let word = leaf.words[row]
                let slot = MixedEntry.slot(ofWord: word)
                guard slot == MixedEntry.Slot.words || known.insert(word >> 8, slot) else { return false }
                guard LeafProof.isPlain(try leaf.value(row, payloads)) || word == 0 && isNullable else { return false }
            }
            return true
        } catch { return false }
    }

    /// Returns whether there is nothing to report about a value of a Mixed leaf whose texts are valid.
    private static func isPlain(_ value: Value) -> Bool {
        switch value {
        case .null, .link, .list, .dictionary: return false
        default: return true
        }
    }

    // MARK: - Texts

    /// Returns whether all texts are valid UTF-8, and where their leaf says.
    private func proves(_ leaf: StringLeaf) -> Bool {
        switch leaf.form {
        case .short(let node): return proves(cells: node)
        case .medium(let blobs): return proves(blobs)
        case .big(let blobs): return proves(blobs)
        case .enumerated: return false
        }
    }

    /// Returns whether all cells of a short leaf are sound.
    private func proves(cells node: Node) -> Bool {
        switch node.width {
        case 0: return isNullable
        case 8: return proves(cellsOf8: node)
        case 16: return proves(cellsOf16: node)
        default: return provesBytewise(node)
        }
    }

    /// The bits of the highest byte of a word, in which cells of 8 and more bytes count their padding.
    private static let countBits: UInt64 = 56
    /// The highest bits of all bytes of a word, which no byte of ASCII has.
    private static let highBits: UInt64 = 0x8080_8080_8080_8080

    /// Returns whether cells of 8 bytes are padded with zeros, and all texts are valid.
    private func proves(cellsOf8 node: Node) -> Bool {
        var joined: UInt64 = 0
        for row in 0..<node.count {
            let word = node.load(byteOffset: row &* 8, as: UInt64.self)
            let padding = word &>> LeafProof.countBits
            let text = word & ~(UInt64.max &<< LeafProof.countBits)
            guard padding < 8 ? text >> (56 &- 8 &* padding) == 0 : padding == 8 && isNullable else { return false }
            joined |= word
        }
        return joined & LeafProof.highBits == 0 || isValid(node.bytes)
    }

    /// Returns whether cells of 16 bytes are padded with zeros, and all texts are valid.
    private func proves(cellsOf16 node: Node) -> Bool {
        var joined: UInt64 = 0
        for row in 0..<node.count {
            let low = node.load(byteOffset: row &* 16, as: UInt64.self)
            let high = node.load(byteOffset: row &* 16 &+ 8, as: UInt64.self)
            let padding = high &>> LeafProof.countBits
            let text = high & ~(UInt64.max &<< LeafProof.countBits)
            if padding < 8 {
                guard text >> (56 &- 8 &* padding) == 0 else { return false }
            } else if padding < 16 {
                guard text == 0, low >> (120 &- 8 &* padding) == 0 else { return false }
            } else {
                guard padding == 16, isNullable else { return false }
            }
            joined |= low | high
        }
        return joined & LeafProof.highBits == 0 || isValid(node.bytes)
    }

    /// Returns whether cells of any size are padded with zeros, and all texts are valid.
    private func provesBytewise(_ node: Node) -> Bool {
        let (width, bytes) = (node.width, node.bytes)
        for row in 0..<node.count {
            let padding = StringLeaf.padding(node, row)
            guard padding < width else {
                guard padding == width, isNullable else { return false }
                continue
            }
            let end = (row + 1) * width - 1
            for offset in end - padding..<end where bytes[offset] != 0 { return false }
        }
        return isValid(bytes)
    }

    /// Returns whether the texts of a medium leaf follow each other, end with a zero byte, and are valid.
    private func proves(_ blobs: MediumBlobs) -> Bool {
        var first: Int64 = 0
        for row in 0..<blobs.count {
            let end = blobs.ends[row]
            guard end >= first, end <= Int64(blobs.bytes.count) else { return false }
            if blobs.nulls[row] != 0 {
                guard isNullable else { return false }
            } else {
                // A text that begins and ends where characters do is valid if all bytes together are.
                guard end > first, blobs.bytes[Int(end) - 1] == 0, blobs.bytes[Int(first)] & 0xc0 != 0x80 else { return false }
            }
            first = end
        }
        return isValid(blobs.bytes)
    }

    /// Returns whether all texts of a big leaf are valid.
    private func proves(_ blobs: BigBlobs) -> Bool {
        do throws(StorageError) {
            for row in 0..<blobs.count {
                guard let text = try blobs.bytes(row) else {
                    guard isNullable else { return false }
                    continue
                }
                guard isValid(text) else { return false }
            }
            return true
        } catch { return false }
    }

    /// Returns whether bytes are UTF-8. The bytes of many texts one after another are, if each text is and the bytes between them
    /// are ASCII.
    private func isValid(_ bytes: ByteView) -> Bool { bytes.isASCII || bytes.validatedString != nil }
}

/// The payloads of a Mixed leaf that belong to a value.
struct PayloadMarks {
    /// One bit for each of the first payloads of every slot.
    private var first = SIMD8<UInt64>(repeating: 0)
    /// The bits of the others, slot after slot; empty as long as there are none.
    private var others: [UInt64] = []

    /// How many words of bits a slot has among the others. No leaf of a sound file has more values.
    private static let wordsPerSlot = 16

    /// Marks a payload; returns false for one that was marked before, and for one of a number that sound leaves do not have.
    mutating func insert(_ index: Int64, _ slot: Int) -> Bool {
        guard index >= 0, index < Int64(PayloadMarks.wordsPerSlot * 64) else { return false }
        let bit: UInt64 = 1 &<< UInt64(index & 63)
        let word = Int(index >> 6)
        if word == 0 {
            defer { first[slot] |= bit }
            return first[slot] & bit == 0
        }
        if others.isEmpty { others = [UInt64](repeating: 0, count: 8 * PayloadMarks.wordsPerSlot) }
        let place = slot * PayloadMarks.wordsPerSlot + word
        defer { others[place] |= bit }
        return others[place] & bit == 0
    }
}
