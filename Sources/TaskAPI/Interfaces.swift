/// The interfaces that the daemon serves, by name, with their descriptions byte for byte as they are
/// in `interfaces/`.
package enum Interfaces {
    package static let texts: [String: String] = [
        Tasks.name: text(PackageResources.org_bgtaskd_Tasks_varlink),
        Applications.name: text(PackageResources.org_bgtaskd_Applications_varlink),
        Manager.name: text(PackageResources.org_bgtaskd_Manager_varlink),
        SystemdService.name: text(PackageResources.io_systemd_service_varlink),
    ]

    private static func text(_ bytes: [UInt8]) -> String {
        String(decoding: bytes, as: UTF8.self)
    }
}
