// SPDX-License-Identifier: Apache-2.0

internal import CZlib
package import Foundation
internal import Synchronization

/// Files written by the reference engine, with the contents a reader must find in them.
package enum Fixtures {
    /// The folder of the package.
    package static let packageRoot = URL(fileURLWithPath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

    /// The shared material beside the checkout, or nil in a lone clone.
    package static let shared: URL? = {
        let folder = packageRoot.deletingLastPathComponent().appendingPathComponent("shared")
        return FileManager.default.fileExists(atPath: folder.path) ? folder : nil
    }()

    /// The folder with all fixtures where they are at hand, else the few that are kept in the repository.
    package static let folder: URL =
        shared?.appendingPathComponent("fixtures")
        ?? packageRoot.appendingPathComponent("Tests/RealmStorageTests/Golden")

    /// Names of all fixtures, without extension.
    package static let names: [String] = {
        let files = (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []
        return files.compactMap { file in
            if file.hasSuffix(".realm") { return String(file.dropLast(6)) }
            return file.hasSuffix(".realm.gz") ? String(file.dropLast(9)) : nil
        }.sorted()
    }()

    /// The path of a fixture; packed ones are unpacked into a temporary folder first.
    package static func path(_ name: String) throws -> String {
        let plain = folder.appendingPathComponent("\(name).realm").path
        if FileManager.default.fileExists(atPath: plain) { return plain }
        let packed = folder.appendingPathComponent("\(name).realm.gz")
        return try unpacked(packed, as: packed.deletingPathExtension().lastPathComponent)
    }

    /// Names of the files of an older format: those that begin with `prefix`, such as `v11-`. They are in a folder of their own, all with a dump.
    package static func legacyNames(_ prefix: String) -> [String] {
        let files = (try? FileManager.default.contentsOfDirectory(atPath: folder.appendingPathComponent("legacy").path)) ?? []
        let names = files.compactMap { file in file.range(of: ".realm").map { "legacy/" + file[..<$0.lowerBound] } }
        return names.filter { $0.hasPrefix("legacy/" + prefix) }.sorted()
    }

    /// The key of an encrypted file of an older format; nil for a plain one.
    package static func legacyKey(_ name: String) -> [UInt8]? {
        guard name.contains("encrypted") else { return nil }
        return name.contains("-java-") ? [UInt8](repeating: 1, count: 64) : key
    }

    /// Names of the plain fixtures of at most 140 kB, which tests of damage read many times.
    package static let shortNames = names.filter { name in
        guard !isEncrypted(name), let path = try? path(name) else { return false }
        let attributes = try? FileManager.default.attributesOfItem(atPath: path)
        return (attributes?[.size] as? Int ?? .max) <= 140_000
    }

    /// Names of the fixtures that have an expected dump.
    package static let namesWithDump: [String] = {
        let files = Set((try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? [])
        return names.filter { files.contains("\($0).expected.json") || files.contains("\($0).expected.json.gz") }
    }()

    /// Dumps that were read, but for large ones, which would fill the memory.
    private static let dumps = Mutex<[String: ParsedJSON]>([:])

    /// What a reader must find in a fixture; nil where that is not written down.
    package static func dump(_ name: String) throws -> ParsedJSON? {
        guard name.hasPrefix("legacy/") || namesWithDump.contains(name) else { return nil }
        if let dump = dumps.withLock({ $0[name] }) { return dump }
        let bytes = try expectedDump(name)
        let dump = try ParsedJSON(parsing: bytes)
        if bytes.count < 4 << 20 { dumps.withLock { $0[name] = dump } }
        return dump
    }

    /// A dump as JSON text.
    private static func expectedDump(_ name: String) throws -> [UInt8] {
        let plain = folder.appendingPathComponent("\(name).expected.json")
        if let data = try? Data(contentsOf: plain) { return [UInt8](data) }
        return [UInt8](try gunzip(folder.appendingPathComponent("\(name).expected.json.gz").path))
    }

    /// The key of the encrypted fixtures: bytes 0 to 63.
    package static let key: [UInt8] = Array(0..<64)

    package static func isEncrypted(_ name: String) -> Bool { name.hasPrefix("encrypted") }

    /// Where packed files are unpacked under their own names, which realms are served by; gone with the process.
    private static let unpackFolder: URL = {
        let folder = FileManager.default.temporaryDirectory
            .appendingPathComponent("realm-rest-fixtures-\(ProcessInfo.processInfo.processIdentifier)")
        try? FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        atexit { try? FileManager.default.removeItem(at: Fixtures.unpackFolder) }
        return folder
    }()

    /// Held while a file is unpacked. A file that another test replaces would have changed for a server that has it open.
    private static let unpacking = Mutex(())

    /// Unpacks a gzip file once in the life of the process.
    private static func unpacked(_ file: URL, as name: String) throws -> String {
        let target = unpackFolder.appendingPathComponent(name)
        return try unpacking.withLock { _ in
            if FileManager.default.fileExists(atPath: target.path) { return target.path }
            let staging = target.path + "." + UUID().uuidString
            try gunzip(file.path).write(to: URL(fileURLWithPath: staging))
            _ = unsafe rename(staging, target.path)
            return target.path
        }
    }

    package static func gunzip(_ path: String) throws -> Data {
        guard let stream = unsafe gzopen(path, "rb") else { throw CocoaError(.fileReadUnknown) }
        defer { unsafe gzclose(stream) }
        var data = Data()
        var buffer = [UInt8](repeating: 0, count: 1 << 20)
        while true {
            let count = unsafe gzread(stream, &buffer, UInt32(buffer.count))
            guard count >= 0 else { throw CocoaError(.fileReadCorruptFile) }
            if count == 0 { return data }
            data.append(contentsOf: buffer[0..<Int(count)])
        }
    }
}
