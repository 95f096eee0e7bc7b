// SPDX-License-Identifier: Apache-2.0

import RealmPlatform
import RealmStorage
import RealmTestSupport
import Testing

/// The table from cells of strings to numbers.
@Suite struct ShortTextNumbersTests {
    /// Makes cells of some texts; nil is null. What a text leaves unused of its cell is garbage, as a file may have it.
    private static func cells(_ texts: [[UInt8]?], width: Int, _ random: inout SeededGenerator) -> [UInt8] {
        texts.flatMap { text -> [UInt8] in
            let length = text?.count ?? 0
            let garbage = (0..<(width - 1 - length)).map { _ in UInt8.random(in: 0...255, using: &random) }
            return (text ?? []) + garbage + [UInt8(text == nil ? width : width - 1 - length)]
        }
    }

    @Test(arguments: [4, 8, 16, 32, 64])
    func `texts are found by their bytes alone, whatever the cells are like`(_ width: Int) {
        var random = SeededGenerator(seed: PackedCase.seed + UInt64(width))
        var table = ShortTextNumbers()
        var known: [[UInt8]?: UInt32] = [:]
        for _ in 0..<60 {
            let texts = (0..<200).map { _ -> [UInt8]? in
                if Int.random(in: 0..<9, using: &random) == 0 { return nil }
                let length = Int.random(in: 0...min(width - 1, 17), using: &random)
                return (0..<length).map { _ in [0, 65, 255].randomElement(using: &random) ?? 0 }
            }
            let cells = Self.cells(texts, width: width, &random)
            let rows = randomMask(texts.count, using: &random)
            var found = [UInt32](repeating: 7, count: Mask.capacity)
            let isComplete = ByteView.withBytes(of: cells) { table.lookUp($0, width: width, rows, into: &found) }
            let before = known
            var place = 0
            var wasComplete = true
            rows.forEach { row in
                let expected = before[texts[row]] ?? ShortTextNumbers.unknown
                #expect(found[place] == expected, "width \(width), \(String(describing: texts[row]))")
                if expected == ShortTextNumbers.unknown {
                    wasComplete = false
                    let number = known[texts[row]] ?? UInt32(known.count)
                    ByteView.withBytes(of: cells) { table.remember(number, of: $0, width: width, row: row) }
                    // Longer texts are never remembered.
                    if texts[row]?.count ?? 0 <= 15 { known[texts[row]] = number }
                }
                place += 1
            }
            #expect(isComplete == wasComplete)
        }
        #expect(known.count > 3)
    }

    @Test func `a damaged cell is unknown`() {
        var table = ShortTextNumbers()
        let cells: [UInt8] = [65, 66, 67, 9]
        ByteView.withBytes(of: cells) { table.remember(1, of: $0, width: 4, row: 0) }
        var found = [UInt32](repeating: 0, count: Mask.capacity)
        let isComplete = ByteView.withBytes(of: cells) { table.lookUp($0, width: 4, Mask(first: 1), into: &found) }
        #expect(!isComplete && found[0] == ShortTextNumbers.unknown)
    }
}
