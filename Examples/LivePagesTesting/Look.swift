import Foundation

// Whether a page fits, can be tapped, and is accessible.
extension Chrome {
    /// axe-core as a package of PyPI brings it; `make test-web` puts it there.
    package static let axe: String? = {
        let folder = pictures.deletingLastPathComponent().appendingPathComponent("axe")
        let files = FileManager.default.enumerator(at: folder, includingPropertiesForKeys: nil)
        let file = files?.compactMap { $0 as? URL }.first { $0.lastPathComponent == "axe.min.js" }
        return file.flatMap { try? String(contentsOf: $0, encoding: .utf8) }
    }()

    /// Takes a picture, and finds what does not fit, is too small to tap, or what axe-core and the browser complain of.
    package func faults(_ name: String) async throws -> [String] {
        try await picture(name)
        var faults: [String] = []
        let overflow = try await number("document.documentElement.scrollWidth - innerWidth")
        if overflow > 0 { faults.append("\(name) is \(overflow) px too wide") }
        faults += (try await script(Self.smallTargets) as? [String] ?? []).map { "\(name): too small: \($0)" }
        if let axe = Self.axe { faults += try await violations(axe).map { "\(name): \($0)" } }
        // That an answer is no success is told as a complaint, too.
        faults += try await complaints().filter { !$0.contains("Failed to load resource") }.map { "\(name): \($0)" }
        return faults
    }

    /// Buttons and links that are too small to tap; links within text are as large as the text.
    private static let smallTargets = """
        return [...document.querySelectorAll('button, a, input:not([type=hidden]), select')].filter(e => {
            if (e.closest('[hidden], dialog, .skip') || e.closest('p, dd') && e.matches('a:not(.button)') || e.matches('.sr, .skip, [type=checkbox], li > button + a')) return false;
            const box = e.getBoundingClientRect();
            return box.width && (box.width < 44 || box.height < 43.5);
        }).map(e => e.outerHTML.slice(0, 100));
        """

    private func violations(_ axe: String) async throws -> [String] {
        // By the protocol, since the page's own policy lets no other script in.
        try await command("Runtime.evaluate", ["expression": axe])
        let result = try await command(
            "Runtime.evaluate",
            [
                "awaitPromise": true, "returnByValue": true,
                "expression":
                    "axe.run(document, {resultTypes: ['violations']}).then(r => r.violations.map(v => v.id + ': ' + v.nodes.slice(0, 3).map(n => n.html + ' ' + n.failureSummary).join(' | ')))",
            ])
        let value = ((result as? [String: Any])?["result"] as? [String: Any])?["value"] as? [String]
        guard let value else { throw Failure(description: "axe-core does not run: \(result)") }
        return value
    }
}
