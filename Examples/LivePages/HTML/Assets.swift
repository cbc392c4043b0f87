import Foundation

/// The files that pages load: read once, and named by their content, so that browsers may keep them for ever.
package enum Assets {
    package static let style = "/app.css?v=\(fingerprint("app.css"))"
    package static let script = "/app.js?v=\(fingerprint("app.js"))"
    /// The script that keeps what the server does not have yet.
    package static let keeper = "/keep.js?v=\(fingerprint("keep.js"))"

    /// The script of the worker that holds the one stream of all tabs.
    package static let stream = "/stream.js?v=\(fingerprint("stream.js"))"

    private static let files: [String: Data] = {
        var files: [String: Data] = [:]
        for name in ["app.css", "app.js", "keep.js", "stream.js", "sw.js"] {
            files[name] = url(name).flatMap { try? Data(contentsOf: $0) }
        }
        return files
    }()

    package static func data(_ name: String) -> Data? { files[name] }

    package static func url(_ name: String) -> URL? {
        Bundle.module.url(forResource: name, withExtension: nil, subdirectory: "Assets")
    }

    private static func fingerprint(_ name: String) -> String {
        // FNV-1a.
        let hash = (data(name) ?? Data()).reduce(UInt64(0xcbf2_9ce4_8422_2325)) { ($0 ^ UInt64($1)) &* 0x100_0000_01b3 }
        return String(hash, radix: 36)
    }
}
