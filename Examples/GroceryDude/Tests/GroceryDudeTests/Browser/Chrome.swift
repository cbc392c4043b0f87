import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// A real browser without a window, driven by WebDriver: plain HTTP and JSON.
final class Chrome: @unchecked Sendable {
    // Safe because one test uses it, one step after the other.
    struct Failure: Error, CustomStringConvertible {
        let description: String
    }

    /// How a page is looked at.
    struct Screen: Sendable, CustomStringConvertible {
        var width = 360
        var height = 740
        var isDark = false
        var hasScript = true

        static let phone = Screen()
        static let desk = Screen(width: 1280, height: 800)
        static let all = [phone, desk, Screen(isDark: true), Screen(width: 1280, height: 800, isDark: true)]

        var description: String { "\(width)-\(isDark ? "dark" : "light")" }
    }

    private static func program(_ names: [String]) -> URL? {
        let folders = (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":")
        return names.lazy.flatMap { name in
            folders.map { URL(fileURLWithPath: String($0)).appendingPathComponent(name) }
        }.first { FileManager.default.isExecutableFile(atPath: $0.path) }
    }

    static let driver = program(["chromedriver"])
    static let isAvailable = driver != nil && program(["chromium", "chromium-browser", "google-chrome"]) != nil
    static let missing = "there is no Chromium with chromedriver: apt-get install chromium chromium-driver"

    /// Where pictures of pages go: `.build/screenshots` of the app's package.
    static let pictures = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent().appendingPathComponent(".build/screenshots")

    private let process: Process
    private let session: String
    private let folder: URL

    /// Starts a browser; `port` is where the app is.
    init(_ screen: Screen = .phone) async throws {
        guard let driver = Self.driver else { throw Failure(description: Self.missing) }
        let process = Process()
        let output = Pipe()
        process.executableURL = driver
        process.arguments = ["--port=0"]
        process.standardOutput = output
        process.standardError = FileHandle.nullDevice
        try process.run()
        self.process = process
        folder = FileManager.default.temporaryDirectory.appendingPathComponent("chrome-\(UUID().uuidString)")
        let handle = output.fileHandleForReading
        let port = try await waiting {
            var text = ""
            while true {
                let data = handle.availableData
                if data.isEmpty { throw Failure(description: "chromedriver did not start: \(text)") }
                text += String(decoding: data, as: UTF8.self)
                if let match = text.firstMatch(of: /on port (\d+)/), let port = Int(match.output.1), port > 0 {
                    return port
                }
            }
        }
        var options: [String: Any] = [
            "args": [
                "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--hide-scrollbars",
                "--window-size=\(screen.width),\(screen.height)", "--user-data-dir=\(folder.path)",
            ]
        ]
        if !screen.hasScript { options["prefs"] = ["profile.managed_default_content_settings.javascript": 2] }
        let base = "http://127.0.0.1:\(port)/session"
        let made = try await Self.send(
            "POST", base,
            ["capabilities": ["alwaysMatch": ["goog:loggingPrefs": ["browser": "ALL"], "goog:chromeOptions": options]]])
        guard let id = (made as? [String: Any])?["sessionId"] as? String else {
            process.terminate()
            throw Failure(description: "no session: \(made)")
        }
        session = "\(base)/\(id)"
        try await command(
            "Emulation.setDeviceMetricsOverride",
            ["width": screen.width, "height": screen.height, "deviceScaleFactor": 1, "mobile": false])
        try await command(
            "Emulation.setEmulatedMedia",
            [
                "features": [
                    ["name": "prefers-color-scheme", "value": screen.isDark ? "dark" : "light"],
                    ["name": "prefers-reduced-motion", "value": "reduce"],
                ]
            ])
    }

    /// Ends the browser.
    func quit() async {
        _ = try? await Self.send("DELETE", session, nil)
        process.terminate()
        process.waitUntilExit()
        try? FileManager.default.removeItem(at: folder)
    }

    /// Runs a test with a browser, and ends it whatever happens.
    static func run(_ screen: Screen = .phone, _ test: (Chrome) async throws -> Void) async throws {
        let chrome = try await Chrome(screen)
        do { try await test(chrome) } catch {
            await chrome.quit()
            throw error
        }
        await chrome.quit()
    }

    @discardableResult private static func send(
        _ method: String, _ url: String, _ body: [String: Any]?
    ) async throws -> Any {
        guard let url = URL(string: url) else { throw Failure(description: "no address: \(url)") }
        var request = URLRequest(url: url, timeoutInterval: 60)
        request.httpMethod = method
        if let body {
            request.httpBody = try JSONSerialization.data(withJSONObject: body)
            request.setValue("application/json", forHTTPHeaderField: "Content-Type")
        }
        let (data, response) = try await URLSession.shared.data(for: request)
        let value = ((try JSONSerialization.jsonObject(with: data)) as? [String: Any])?["value"] ?? NSNull()
        guard (response as? HTTPURLResponse)?.statusCode == 200 else {
            throw Failure(
                description: "\(method) \(url.lastPathComponent): \((value as? [String: Any])?["message"] ?? value)")
        }
        return value
    }

    @discardableResult func command(_ name: String, _ parameters: [String: Any]) async throws -> Any {
        try await Self.send("POST", "\(session)/goog/cdp/execute", ["cmd": name, "params": parameters])
    }

    func go(_ address: String) async throws { try await Self.send("POST", "\(session)/url", ["url": address]) }

    /// What a script returns; what is given stands in `arguments`.
    @discardableResult func script(_ text: String, _ arguments: [Any] = []) async throws -> Any {
        try await Self.send("POST", "\(session)/execute/sync", ["script": text, "args": arguments])
    }

    func text(_ selector: String) async throws -> String {
        let text = try await script("return document.querySelector(arguments[0])?.innerText ?? ''", [selector])
        return (text as? String ?? "").replacing(/\s+/, with: " ")
    }

    func number(_ text: String) async throws -> Int {
        (try await script("return " + text) as? NSNumber)?.intValue ?? -1
    }

    /// Waits until the expression holds, for ten seconds.
    func wait(_ expression: String) async throws {
        for _ in 0..<500 {
            if (try? await script("return !!(\(expression))")) as? Bool == true { return }
            try await Task.sleep(for: .milliseconds(20))
        }
        throw Failure(description: "does not come true: \(expression); the page has: \(try await text("body"))")
    }

    /// Waits until the page has the text.
    func waitFor(_ text: String) async throws {
        let json = String(decoding: try JSONEncoder().encode([text]), as: UTF8.self)
        try await wait("document.body.innerText.replace(/\\s+/g, ' ').includes(\(json)[0])")
    }

    /// Clicks as a user does: in the middle of the element.
    func click(_ selector: String) async throws {
        try await Self.send("POST", "\(session)/element/\(try await element(selector))/click", [:])
    }

    func type(_ text: String, into selector: String) async throws {
        try await Self.send("POST", "\(session)/element/\(try await element(selector))/value", ["text": text])
    }

    private func element(_ selector: String) async throws -> String {
        let found = try await Self.send("POST", "\(session)/element", ["using": "css selector", "value": selector])
        guard let id = (found as? [String: Any])?.values.first as? String else {
            throw Failure(description: "there is no \(selector)")
        }
        return id
    }

    /// Presses keys one after the other, where the focus is; `with` is held meanwhile.
    func press(_ keys: String..., with modifier: String? = nil) async throws {
        var actions: [[String: Any]] = []
        if let modifier { actions.append(["type": "keyDown", "value": modifier]) }
        for key in keys { actions += [["type": "keyDown", "value": key], ["type": "keyUp", "value": key]] }
        if let modifier { actions.append(["type": "keyUp", "value": modifier]) }
        try await Self.send(
            "POST", "\(session)/actions", ["actions": [["type": "key", "id": "keys", "actions": actions]]])
    }

    /// What the browser complained of.
    func complaints() async throws -> [String] {
        let entries = try await Self.send("POST", "\(session)/se/log", ["type": "browser"]) as? [[String: Any]] ?? []
        return entries.filter { $0["level"] as? String == "SEVERE" }.compactMap { $0["message"] as? String }
    }

    /// Writes a picture of what is seen.
    func picture(_ name: String) async throws {
        let text = try await Self.send("GET", "\(session)/screenshot", nil) as? String ?? ""
        try FileManager.default.createDirectory(at: Self.pictures, withIntermediateDirectories: true)
        try Data(base64Encoded: text)?.write(to: Self.pictures.appendingPathComponent("\(name).png"))
    }
}

/// Keys as WebDriver names them.
enum Key {
    static let down = "\u{E015}"
    static let up = "\u{E013}"
    static let delete = "\u{E017}"
    static let enter = "\u{E007}"
    static let escape = "\u{E00C}"
    static let control = "\u{E009}"
    static let shift = "\u{E008}"
}
