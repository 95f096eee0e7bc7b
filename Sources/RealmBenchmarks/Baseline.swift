// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import RealmHTTP

/// Figures of another engine for the same work: a JSON object of numbers, or one with such an object as `figures`.
struct Baseline {
    private var figures: [String: Double] = [:]

    init(_ path: String) throws {
        guard case .object(let document) = try JSONParser.parse(try Baseline.read(path), depthLimit: 8) else {
            throw BenchmarkError.unsuitable("\(path) is no JSON object")
        }
        for (name, value) in (document["figures"]?.object ?? document).members {
            switch value {
            case .integer(let number): figures[name] = Double(number)
            case .real(let number): figures[name] = number
            default: break
            }
        }
    }

    /// The figures, whatever they were taken over.
    var allFigures: [String: Double] { figures }

    /// The figures if they were taken over so many objects.
    func figures(forObjects count: Int) -> [String: Double] { figures["objects"] == Double(count) ? figures : [:] }

    private static func read(_ path: String) throws -> [UInt8] {
        guard let file = unsafe fopen(path, "rb") else { throw BenchmarkError.unsuitable("cannot read \(path)") }
        defer { unsafe fclose(file) }
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while true {
            let count = unsafe fread(&buffer, 1, buffer.count, file)
            guard count > 0 else { return bytes }
            bytes += buffer.prefix(count)
        }
    }
}
