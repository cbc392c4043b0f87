import Foundation

/// The style sheet, the script and the icon, which are part of the program.
package enum Assets {
    package static let style = address(of: "studio.css")
    package static let script = address(of: "studio.js")
    package static let icon = address(of: "icon.svg")

    private struct File: Sendable {
        var type: String
        var data: Data
    }

    private static let files: [String: File] = [
        "studio.css": File(
            type: "text/css; charset=utf-8", data: Data(PackageResources.studio_css + PackageResources.editor_css)),
        "studio.js": File(
            type: "text/javascript; charset=utf-8", data: Data(PackageResources.studio_js + PackageResources.editor_js)),
        "icon.svg": File(type: "image/svg+xml", data: Data(PackageResources.icon_svg)),
    ]

    /// Returns the answer to a request for a file. Its address contains a hash of its content, so that browsers may
    /// keep it.
    static func response(_ name: String) -> StudioResponse? {
        guard let file = files[name] else { return nil }
        var response = StudioResponse(200, type: file.type, file.data)
        response.headers.append(("Cache-Control", "max-age=31536000, immutable"))
        return response
    }

    private static func address(of name: String) -> Address {
        // FNV-1a.
        let hash = (files[name]?.data ?? Data()).reduce(UInt64(0xcbf2_9ce4_8422_2325)) {
            ($0 ^ UInt64($1)) &* 0x100_0000_01b3
        }
        return Address("assets", name).with("v", String(hash, radix: 36))
    }
}
