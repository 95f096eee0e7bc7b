// SPDX-License-Identifier: Apache-2.0

internal import Foundation
package import MicroHTTP

/// Certificates in a folder for the time of a test.
package final class TestCertificates {
    package let folder = NSTemporaryDirectory() + "realm-rest-tls-\(UUID().uuidString.prefix(8))"

    package init() throws { try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true) }

    deinit { try? FileManager.default.removeItem(atPath: folder) }

    package func path(_ file: String) -> String { folder + "/" + file }

    /// Makes `NAME.pem` and `NAME.key`, signed by another one that was made, or by itself.
    @discardableResult
    package func make(
        _ name: String, subject: String? = nil, names: String? = nil, by authority: String? = nil, days: Int = 30,
        extra: [String] = []
    ) throws -> TLSOptions.Pair {
        var arguments = [
            "openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days",
            String(days), "-subj", subject ?? "/CN=\(name)", "-keyout", path(name + ".key"), "-out", path(name + ".pem"),
        ]
        if let names { arguments += ["-addext", "subjectAltName=" + names] }
        if let authority { arguments += ["-CA", path(authority + ".pem"), "-CAkey", path(authority + ".key")] }
        for one in extra { arguments += ["-addext", one] }
        try Tool.run(arguments)
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: path(name + ".key"))
        return TLSOptions.Pair(certificate: path(name + ".pem"), key: path(name + ".key"))
    }

    /// Puts the files of one name in the place of those of another, each at once.
    package func replace(_ name: String, by other: String) throws {
        for suffix in [".key", ".pem"] {
            let new = path(UUID().uuidString)
            try FileManager.default.copyItem(atPath: path(other + suffix), toPath: new)
            guard unsafe rename(new, path(name + suffix)) == 0 else { throw Tool.Failure(description: "rename") }
        }
    }

    /// Options with a certificate for all names.
    package func options(_ name: String, more: [String] = []) -> TLSOptions {
        var options = TLSOptions()
        (options.certificate, options.key) = (path(name + ".pem"), path(name + ".key"))
        options.certificates = more.map { TLSOptions.Pair(certificate: path($0 + ".pem"), key: path($0 + ".key")) }
        return options
    }
}
