// SPDX-License-Identifier: Apache-2.0

/// Reads the lines of a Markdown document from the first to the last and writes their elements.
struct Blocks {
    /// The lines that are left.
    private var lines: ArraySlice<Substring>

    /// Begins at the first of some lines.
    init(lines: [Substring]) { self.lines = lines[...] }

    /// Returns all elements.
    mutating func read() -> String {
        var html = ""
        while let line = lines.first {
            if line.trimmingBlanks.isEmpty {
                lines.removeFirst()
            } else if line.hasPrefix("```") {
                html += code()
            } else if let heading = heading(line) {
                lines.removeFirst()
                html += heading
            } else if line.hasPrefix("|") {
                html += table()
            } else if Blocks.item(line) != nil {
                html += list()
            } else {
                html += "<p>\(Markdown.inline(paragraph()))</p>\n"
            }
        }
        return html
    }

    /// Returns the lines up to the closing fence.
    private mutating func code() -> String {
        let isClosing = { (line: Substring) in line.hasPrefix("```") }
        lines.removeFirst()
        let end = lines.firstIndex(where: isClosing) ?? lines.endIndex
        let text = lines[..<end].joined(separator: "\n")
        lines = lines[end...].dropFirst()
        return "<pre><code>\(Markdown.escaped(Substring(text)))</code></pre>\n"
    }

    /// Returns the heading that a line is; nil for any other line.
    private func heading(_ line: Substring) -> String? {
        let level = line.prefix { $0 == "#" }.count
        guard (1...4).contains(level), line.dropFirst(level).hasPrefix(" ") else { return nil }
        let text = line.dropFirst(level).trimmingBlanks
        return "<h\(level) id=\"\(Markdown.identifier(text))\">\(Markdown.inline(text))</h\(level)>\n"
    }

    /// Returns the lines up to an empty one, or to one that begins something else, as one text.
    private mutating func paragraph() -> Substring {
        var text: [Substring] = []
        while let line = lines.first, !line.trimmingBlanks.isEmpty {
            guard text.isEmpty || !(line.hasPrefix("```") || line.hasPrefix("|") || Blocks.item(line) != nil) else { break }
            text.append(line.trimmingBlanks)
            lines.removeFirst()
        }
        return Substring(text.joined(separator: " "))
    }

    /// Returns a table, whose first line is its head and whose second separates them.
    private mutating func table() -> String {
        let end = lines.firstIndex { !$0.hasPrefix("|") } ?? lines.endIndex
        let rows = lines[..<end].map(Blocks.cells)
        lines = lines[end...]
        let row = { (cells: [Substring], tag: String) in
            "<tr>\(cells.map { "<\(tag)>\(Markdown.inline($0))</\(tag)>" }.joined())</tr>\n"
        }
        let body = rows.dropFirst(2).map { row($0, "td") }.joined()
        return "<table>\n<thead>\n\(row(rows[0], "th"))</thead>\n<tbody>\n\(body)</tbody>\n</table>\n"
    }

    /// Returns the cells of a line of a table. A bar after a backslash belongs to its cell.
    private static func cells(_ line: Substring) -> [Substring] {
        var cells: [String] = [""]
        var isEscaped = false
        for character in line.trimmingBlanks.dropFirst() {
            if character == "|", !isEscaped {
                cells.append("")
            } else {
                if character == "|" { cells[cells.count - 1].removeLast() }
                cells[cells.count - 1].append(character)
            }
            isEscaped = character == "\\"
        }
        return cells.dropLast().map { Substring($0).trimmingBlanks }
    }

    /// Returns the indentation of a line of a list, where its text begins, and whether the list is numbered; nil for other lines.
    private static func item(_ line: Substring) -> (indentation: Int, start: Int, isNumbered: Bool)? {
        let indentation = line.prefix { $0 == " " }.count
        let rest = line.dropFirst(indentation)
        if rest.hasPrefix("- ") || rest.hasPrefix("* ") { return (indentation, indentation + 2, false) }
        let digits = rest.prefix { $0.isNumber }.count
        guard (1...3).contains(digits), rest.dropFirst(digits).hasPrefix(". ") else { return nil }
        return (indentation, indentation + digits + 2, true)
    }

    /// Returns a list with the lists in it.
    private mutating func list() -> String {
        guard let first = lines.first.flatMap(Blocks.item) else { return "" }
        var html = ""
        while let line = lines.first, let item = Blocks.item(line), item.indentation == first.indentation {
            html += "<li>\(Blocks(lines: takeItem(from: item.start)).readItem())</li>\n"
        }
        let tag = first.isNumbered ? "ol" : "ul"
        return "<\(tag)>\n\(html)</\(tag)>\n"
    }

    /// Removes the lines of one item of a list and returns them without their indentation.
    private mutating func takeItem(from start: Int) -> [Substring] {
        var taken = [lines.removeFirst().dropFirst(start)]
        while let line = lines.first {
            let isIndented = line.prefix { $0 == " " }.count >= start
            let next = lines.dropFirst().first.map { $0.prefix { $0 == " " }.count } ?? 0
            let goesOn = line.trimmingBlanks.isEmpty && next >= start
            guard isIndented || goesOn else { break }
            taken.append(line.dropFirst(start))
            lines.removeFirst()
        }
        return taken
    }

    /// Returns the elements of an item: its first paragraph without a `p` around it, so that simple lists stay dense.
    private func readItem() -> String {
        var blocks = self
        guard let line = lines.first, !line.hasPrefix("```") else { return blocks.read() }
        return Markdown.inline(blocks.paragraph()) + blocks.read()
    }
}
