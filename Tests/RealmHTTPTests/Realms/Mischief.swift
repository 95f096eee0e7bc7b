// SPDX-License-Identifier: Apache-2.0

import Foundation
import Glibc
import RealmPlatform
import RealmStorage
import RealmTestSupport
import Testing

/// A folder without symbolic links in its path, and without a slash at its end.
func realPath(of folder: String) -> String { URL(fileURLWithPath: folder).resolvingSymlinksInPath().path }

/// Folders for one row: `data` and `root` may be named in requests, `outside` may not. What is done is done to `target`.
struct MischiefFolders: Sendable {
    let base: String
    var data: String { base + "/data" }
    var root: String { base + "/granted" }
    var outside: String { base + "/outside" }
    /// In `root`.
    var target: String { root + "/target.realm" }

    init() throws {
        base = realPath(of: NSTemporaryDirectory()) + "/realm-rest-mischief-\(UUID().uuidString)"
        for folder in [base, data, root, outside] { guard unsafe mkdir(folder, 0o700) == 0 else { throw Failure(text: folder) } }
    }

    struct Failure: Error {
        let text: String
    }

    func remove() { try? FileManager.default.removeItem(atPath: base) }

    func write(_ bytes: [UInt8], _ path: String) throws { try Data(bytes).write(to: URL(fileURLWithPath: path)) }

    func write(_ text: String, _ path: String) throws { try write(Array(text.utf8), path) }

    /// A sound realm of the present format.
    func realm(_ path: String, edit: (inout [UInt8]) -> Void = { _ in }) throws {
        var bytes = [UInt8](try Data(contentsOf: URL(fileURLWithPath: try Fixtures.path("types-single"))))
        edit(&bytes)
        try write(bytes, path)
    }

    func link(_ target: String, at path: String) throws {
        try FileManager.default.createSymbolicLink(atPath: path, withDestinationPath: target)
    }

    func hardLink(_ old: String, at path: String) throws {
        guard unsafe Glibc.link(old, path) == 0 else { throw Failure(text: "link \(errno)") }
    }

    func pipe(_ path: String) throws { guard unsafe mkfifo(path, 0o600) == 0 else { throw Failure(text: "mkfifo \(errno)") } }

    func socket(_ path: String) throws { try TestSocket.leave(at: path, mode: 0o600) }

    func sparse(_ path: String, _ byteCount: Int) throws {
        let descriptor = unsafe open(path, O_RDWR | O_CREAT, 0o600)
        defer { close(descriptor) }
        guard ftruncate(descriptor, off_t(byteCount)) == 0 else { throw Failure(text: "ftruncate \(errno)") }
    }
}

/// What stands at the path that a request names, and what comes of it.
struct MischiefTarget: Sendable, CustomTestStringConvertible {
    let name: String
    /// Makes it; `target` is the path that requests name.
    let make: @Sendable (MischiefFolders) throws -> Void
    /// Why it is never opened; nil when it can at least be read.
    var refusal: (status: Int, code: String)?
    /// Why it is not written to; nil when it is. It is served for reading then.
    var onlyRead: (status: Int, code: String)?
    /// What requests name; nil for `target`.
    var path: (@Sendable (MischiefFolders) -> String)?

    var testDescription: String { name }

    private static let notARealm = (status: 422, code: "not_a_realm")
    private static let unsuitable = (status: 422, code: "filesystem_unsuitable")
    private static let corrupt = (status: 422, code: "file_corrupt")
    private static let format = (status: 422, code: "file_format_unsupported")
    private static let keyRequired = (status: 422, code: "encryption_key_required")
    private static let absent = (status: 404, code: "file_not_found")
    private static let forbidden = (status: 403, code: "path_not_allowed")

    static let all: [MischiefTarget] = plainFiles + damaged + otherKinds + links + neighbours + places

    private static let plainFiles: [MischiefTarget] = [
        MischiefTarget(name: "nothing", make: { _ in }, refusal: absent),
        MischiefTarget(name: "a file of no bytes", make: { try $0.write([], $0.target) }, refusal: notARealm),
        MischiefTarget(name: "a text", make: { try $0.write("gem 'rails'\n", $0.target) }, refusal: notARealm),
        MischiefTarget(
            name: "a text with a lock of its own",
            make: {
                try $0.write("gem 'rails'\n", $0.target)
                try $0.write("GEM\n  remote: https://rubygems.org/\n", $0.target + ".lock")
            }, refusal: notARealm),
        MischiefTarget(name: "23 bytes", make: { try $0.write([UInt8](repeating: 0, count: 23), $0.target) }, refusal: notARealm),
        MischiefTarget(name: "24 zeros", make: { try $0.write([UInt8](repeating: 0, count: 24), $0.target) }, refusal: notARealm),
        MischiefTarget(
            name: "junk of whole pages",
            make: { place in
                try place.write((0..<8192).map { UInt8(truncatingIfNeeded: $0 &* 0x9e37_79b9 >> 11) }, place.target)
            },
            refusal: keyRequired),
        MischiefTarget(
            name: "text of whole pages", make: { try $0.write([UInt8](repeating: 0x78, count: 8192), $0.target) },
            refusal: notARealm),
        MischiefTarget(
            name: "another database",
            make: {
                try $0.write(Array("SQLite format 3".utf8) + [UInt8](repeating: 0, count: 4081), $0.target)
            }, refusal: notARealm),
        MischiefTarget(name: "a sparse file of 4 TB", make: { try $0.sparse($0.target, 4 << 40) }, refusal: notARealm),
        MischiefTarget(
            name: "an encrypted realm without its key",
            make: {
                try FileManager.default.copyItem(atPath: try Fixtures.path("encrypted"), toPath: $0.target)
            }, refusal: keyRequired),
        MischiefTarget(name: "a sound realm", make: { try $0.realm($0.target) }),
        MischiefTarget(
            name: "a realm of format 23",
            make: { folders in
                try folders.realm(folders.target) { $0[20 + Int($0[23] & 1)] = 23 }
            }, onlyRead: format),
        MischiefTarget(
            name: "a program",
            make: {
                try $0.write([0x7f, 0x45, 0x4c, 0x46] + [UInt8](repeating: 1, count: 5000), $0.target)
                unsafe chmod($0.target, 0o755)
            }, refusal: notARealm),
    ]

    private static let damaged: [MischiefTarget] = [
        MischiefTarget(
            name: "format 12",
            make: { folders in
                try folders.realm(folders.target) {
                    $0[20] = 12
                    $0[21] = 12
                }
            }, refusal: format),
        MischiefTarget(
            name: "format 25",
            make: { folders in
                try folders.realm(folders.target) {
                    $0[20] = 25
                    $0[21] = 25
                }
            }, refusal: format),
        MischiefTarget(
            name: "a realm cut short",
            make: { folders in
                try folders.realm(folders.target) { $0.removeLast($0.count - 64) }
            }, refusal: corrupt),
        MischiefTarget(
            name: "a realm whose top lies beyond its end",
            make: { folders in
                try folders.realm(folders.target) { bytes in
                    for offset in [0, 8] { bytes.replaceSubrange(offset..<offset + 8, with: [0, 0, 0, 0, 0, 1, 0, 0]) }
                }
            }, refusal: corrupt),
        MischiefTarget(
            name: "a sound header and 4 TB of nothing",
            make: { folders in
                try folders.realm(folders.target) { bytes in
                    for offset in [0, 8] { bytes.replaceSubrange(offset..<offset + 8, with: [0, 0, 0, 0, 0, 1, 0, 0]) }
                }
                try folders.sparse(folders.target, 4 << 40)
            }, refusal: corrupt),
        MischiefTarget(
            name: "an odd size", make: { folders in try folders.realm(folders.target) { $0.append(7) } }, refusal: corrupt),
    ]

    private static let otherKinds: [MischiefTarget] = [
        MischiefTarget(name: "a folder", make: { unsafe mkdir($0.target, 0o700) }, refusal: unsuitable),
        MischiefTarget(
            name: "a folder with a realm in it",
            make: {
                unsafe mkdir($0.target, 0o700)
                try $0.realm($0.target + "/inner.realm")
            }, refusal: unsuitable),
        MischiefTarget(name: "a pipe", make: { try $0.pipe($0.target) }, refusal: unsuitable),
        MischiefTarget(name: "a socket", make: { try $0.socket($0.target) }, refusal: unsuitable),
        MischiefTarget(
            name: "a path through a file", make: { try $0.realm($0.target) }, refusal: absent, path: { $0.target + "/x.realm" }),
        MischiefTarget(
            name: "a name of 255 bytes", make: { _ in }, refusal: absent,
            path: { $0.root + "/" + String(repeating: "n", count: 249) + ".realm" }),
        MischiefTarget(
            name: "a name of 300 bytes", make: { _ in }, refusal: absent,
            path: { $0.root + "/" + String(repeating: "n", count: 300) }),
        MischiefTarget(
            name: "a name with odd letters", make: { try $0.realm($0.root + "/ü \u{202e}\n'\"x.realm") },
            path: { $0.root + "/ü \u{202e}\n'\"x.realm" }),
    ]

    private static let links: [MischiefTarget] = [
        MischiefTarget(
            name: "a link to a realm beside it",
            make: {
                try $0.realm($0.root + "/other.realm")
                try $0.link($0.root + "/other.realm", at: $0.target)
            }),
        MischiefTarget(
            name: "a link to a realm outside",
            make: {
                try $0.realm($0.outside + "/other.realm")
                try $0.link($0.outside + "/other.realm", at: $0.target)
            }, refusal: forbidden),
        MischiefTarget(
            name: "a relative link that leaves",
            make: {
                try $0.realm($0.outside + "/other.realm")
                try $0.link("../outside/other.realm", at: $0.target)
            }, refusal: forbidden),
        MischiefTarget(
            name: "a link to nothing inside", make: { try $0.link($0.root + "/none.realm", at: $0.target) }, refusal: absent),
        MischiefTarget(
            name: "a link to nothing outside", make: { try $0.link($0.outside + "/none.realm", at: $0.target) },
            refusal: forbidden),
        MischiefTarget(name: "a link to itself", make: { try $0.link("target.realm", at: $0.target) }, refusal: forbidden),
        MischiefTarget(name: "a link to /dev/zero", make: { try $0.link("/dev/zero", at: $0.target) }, refusal: forbidden),
        MischiefTarget(
            name: "a link to the memory of the server", make: { try $0.link("/proc/self/mem", at: $0.target) }, refusal: forbidden
        ),
        MischiefTarget(
            name: "a folder that is a link outside",
            make: {
                try $0.realm($0.outside + "/x.realm")
                try $0.link($0.outside, at: $0.root + "/away")
            }, refusal: forbidden, path: { $0.root + "/away/x.realm" }),
        MischiefTarget(
            name: "a folder that is a link inside",
            make: {
                unsafe mkdir($0.root + "/deep", 0o700)
                try $0.realm($0.root + "/deep/x.realm")
                try $0.link("deep", at: $0.root + "/short")
            }, path: { $0.root + "/short/x.realm" }),
        MischiefTarget(
            name: "a second name of a realm outside",
            make: {
                try $0.realm($0.outside + "/other.realm")
                try $0.hardLink($0.outside + "/other.realm", at: $0.target)
            }, onlyRead: unsuitable),
        MischiefTarget(
            name: "a second name of a text outside",
            make: {
                try $0.write("secret", $0.outside + "/secret")
                try $0.hardLink($0.outside + "/secret", at: $0.target)
            }, refusal: notARealm),
    ]

    private static let neighbours: [MischiefTarget] = [
        MischiefTarget(
            name: "a lock that is a text",
            make: {
                try $0.realm($0.target)
                try $0.write("PID 12\n", $0.target + ".lock")
            }, onlyRead: unsuitable),
        MischiefTarget(
            name: "a lock that is another format's",
            make: {
                try $0.realm($0.target)
                try $0.write([0, 0, 0, 1, 0x42, 0x85, 2, 0] + [UInt8](repeating: 9, count: 500), $0.target + ".lock")
            }, onlyRead: unsuitable),
        MischiefTarget(
            name: "a lock that is large",
            make: {
                try $0.realm($0.target)
                try $0.sparse($0.target + ".lock", 4 << 40)
            }, onlyRead: unsuitable),
        MischiefTarget(
            name: "a lock that is a folder",
            make: {
                try $0.realm($0.target)
                unsafe mkdir($0.target + ".lock", 0o700)
            }, onlyRead: unsuitable),
        MischiefTarget(
            name: "a lock that is a pipe",
            make: {
                try $0.realm($0.target)
                try $0.pipe($0.target + ".lock")
            }, onlyRead: unsuitable),
        MischiefTarget(
            name: "a lock that is a link",
            make: {
                try $0.realm($0.target)
                try $0.write("", $0.outside + "/victim")
                try $0.link($0.outside + "/victim", at: $0.target + ".lock")
            }, onlyRead: unsuitable),
        MischiefTarget(
            name: "a lock that has a second name",
            make: {
                try $0.realm($0.target)
                try $0.write("", $0.outside + "/victim")
                try $0.hardLink($0.outside + "/victim", at: $0.target + ".lock")
            }, onlyRead: unsuitable),
        MischiefTarget(
            name: "a lock of an SDK that has ended",
            make: {
                try $0.realm($0.target)
                try $0.write([1, 40, 48, 0, 24, 0, 14, 0] + [UInt8](repeating: 3, count: 1720), $0.target + ".lock")
            }),
        MischiefTarget(
            name: "a note and a management folder of somebody",
            make: {
                try $0.realm($0.target)
                try $0.write("buy milk", $0.target + ".note")
                unsafe mkdir($0.target + ".management", 0o700)
                try $0.write("minutes", $0.target + ".management/minutes.txt")
            }),
        MischiefTarget(
            name: "files with the names of copies",
            make: {
                try $0.realm($0.target)
                try $0.write("my notes of 1", $0.target + ".before-1")
                try $0.write("mine", $0.target + ".v23.backup")
                try $0.write("mine", $0.target + ".new")
                try $0.write("mine", $0.target + ".tmp_compaction_space")
            }),
    ]

    private static let places: [MischiefTarget] = [
        MischiefTarget(
            name: "a realm outside", make: { try $0.realm($0.outside + "/x.realm") }, refusal: forbidden,
            path: { $0.outside + "/x.realm" }),
        MischiefTarget(name: "nothing outside", make: { _ in }, refusal: forbidden, path: { $0.outside + "/x.realm" }),
        MischiefTarget(name: "the accounts", make: { _ in }, refusal: forbidden, path: { _ in "/etc/passwd" }),
        MischiefTarget(
            name: "up and out", make: { try $0.realm($0.outside + "/x.realm") }, refusal: forbidden,
            path: { $0.root + "/../outside/x.realm" }),
        MischiefTarget(
            name: "out through what is not there", make: { try $0.realm($0.outside + "/x.realm") }, refusal: forbidden,
            path: {
                $0.root + "/none/../../outside/x.realm"
            }),
        MischiefTarget(
            name: "far up", make: { _ in }, refusal: forbidden, path: { _ in String(repeating: "../", count: 60) + "etc/passwd" }),
        MischiefTarget(
            name: "a folder whose name begins alike",
            make: {
                unsafe mkdir($0.base + "/granted-too", 0o700)
                try $0.realm($0.base + "/granted-too/x.realm")
            }, refusal: forbidden, path: { $0.base + "/granted-too/x.realm" }),
        MischiefTarget(name: "the root itself", make: { _ in }, refusal: forbidden, path: { $0.root }),
        MischiefTarget(name: "files of the system", make: { _ in }, refusal: forbidden, path: { _ in "/proc/self/maps" }),
        MischiefTarget(name: "a device", make: { _ in }, refusal: forbidden, path: { _ in "/dev/zero" }),
        MischiefTarget(
            name: "up and back in", make: { try $0.realm($0.target) }, path: { $0.root + "/../granted/./target.realm" }),
    ]
}
