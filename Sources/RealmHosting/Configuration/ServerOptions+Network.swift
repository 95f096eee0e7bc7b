// SPDX-License-Identifier: Apache-2.0

internal import MicroHTTP
internal import RealmEngine
internal import RealmFormats
internal import RealmPlatform
internal import RealmStorage

/// Values derived from the options of listeners and certificates together.
extension ServerOptions {
    /// The places at which the server listens for clients: those that are listed, else the one of `host` and `port`.
    package var addresses: [ListenAddress] {
        listeners.isEmpty ? [ListenAddress(.port(host: host, port: port))] : listeners
    }

    /// The names and addresses for a certificate that the server makes itself.
    package var namesOfTrial: [String] {
        let hosts = addresses.compactMap { address -> String? in
            guard case .port(let host, _) = address.place, !["0.0.0.0", "::", "[::]"].contains(host) else { return nil }
            return host
        }
        var names: [String] = []
        for name in ["localhost", "127.0.0.1", "::1"] + hosts + extraHosts where !names.contains(name) { names.append(name) }
        return names
    }

    /// The possible conflicts of listeners and certificates.
    var conflictsOfNetwork: [Conflict] {
        var conflicts = addresses.enumerated().map { index, address in
            let place = listeners.isEmpty ? SettingPlace("listen.host") : SettingPlace("listeners", [.index(index)])
            return Conflict(settings: [place]) { defect(of: address) }
        }
        conflicts.append(
            Conflict(settings: [SettingPlace("tls.certificate"), SettingPlace("tls.key")], isOfOptions: true) {
                (tls.certificate == nil) == (tls.key == nil) ? nil : "'tls.certificate' and 'tls.key' must be given together"
            })
        let files = ["tls.certificate", "tls.certificates", "tls.clientCA"].map { SettingPlace($0) }
        conflicts.append(Conflict(settings: files) { defectOfCertificates })
        return conflicts
    }

    /// Returns the reason why the server does not listen at an address, as far as options determine it; nil when it does.
    private func defect(of address: ListenAddress) -> String? {
        if address.isSecure(tls.isOn), !tls.isOn { return StartRefusal.missingCertificate(of: address.description) }
        guard case .port(let host, _) = address.place, !isInsecure, !FirstKey.hasCredentials(self) else { return nil }
        return ServerOptions.defect(of: host, StartRefusal.exposure)
    }

    /// Returns why the files of certificates cannot be used; nil when they can, or there are none.
    private var defectOfCertificates: String? {
        guard tls.isOn else {
            return tls.clientAuthorities == nil ? nil : "'tls.clientCA' needs 'tls.certificate' and 'tls.key'"
        }
        do throws(TLSFailure) {
            if !tls.pairs.isEmpty { _ = try TLSSet(tls, made: nil) }
            return nil
        } catch {
            return error.description
        }
    }
}
