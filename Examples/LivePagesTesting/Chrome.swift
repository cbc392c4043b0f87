import Foundation

/// A real browser without a window, driven by WebDriver: plain HTTP and JSON.
package final class Chrome: @unchecked Sendable {
    // Safe because one test uses it, one step after the other.
    package struct Failure: Error, CustomStringConvertible {
        package let description: String
    }

    /// How a page is looked at.
    package struct Screen: Sendable, CustomStringConvertible {
        package var width = 360
        package var height = 740
        package var isDark = false
        package var hasScript = true

        package init(width: Int = 360, height: Int = 740, isDark: Bool = false, hasScript: Bool = true) {
            self.width = width
            self.height = height
            self.isDark = isDark
            self.hasScript = hasScript
        }

        package static let phone = Screen()
        package static let desk = Screen(width: 1280, height: 800)
        package static let all = [phone, desk, Screen(isDark: true), Screen(width: 1280, height: 800, isDark: true)]
        /// One of all screens, another one every day.
        package static let some = DailyPart.one(of: all)
        /// A light phone or a dark desk, by the day.
        package static let phoneOrDesk = DailyPart.one(of: [all[0], all[3]])

        package var description: String { "\(width)-\(isDark ? "dark" : "light")" }
    }

    private static func program(_ names: [String]) -> URL? {
        let folders = (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":")
        return names.lazy.flatMap { name in
            folders.map { URL(fileURLWithPath: String($0)).appendingPathComponent(name) }
        }.first { FileManager.default.isExecutableFile(atPath: $0.path) }
    }

    package static let driverProgram = program(["chromedriver"])
    package static let isAvailable =
        driverProgram != nil && program(["chromium", "chromium-browser", "google-chrome"]) != nil
    package static let missing = "there is no Chromium with chromedriver: apt-get install chromium chromium-driver"

    /// Where pictures of pages go: `.build/screenshots` of the app's package.
    package static let pictures = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        .deletingLastPathComponent()
        .appendingPathComponent(".build/screenshots")

    private let program: SideProgram
    private let driver: TestBrowser
    private let session: String
    private let folder: URL

    /// Starts a browser; `port` is where the app is.
    package init(_ screen: Screen = .phone) async throws {
        let (program, port) = try await Self.startDriver()
        self.program = program
        folder = FileManager.default.temporaryDirectory.appendingPathComponent("chrome-\(UUID().uuidString)")
        var options: [String: Any] = [
            "args": [
                "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--hide-scrollbars",
                "--window-size=\(screen.width),\(screen.height)", "--user-data-dir=\(folder.path)",
            ]
        ]
        if !screen.hasScript { options["prefs"] = ["profile.managed_default_content_settings.javascript": 2] }
        driver = TestBrowser(port: port, seconds: 30)
        do { session = try await Self.session(driver, options) } catch {
            program.end(SIGKILL)
            throw error
        }
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

    private static func startDriver() async throws -> (SideProgram, port: Int) {
        guard let url = driverProgram else { throw Failure(description: missing) }
        // It ends where the port that it was given is taken for the other kind of addresses.
        for _ in 0..<4 {
            let program = try SideProgram(url, ["--port=0"])
            if let port = try? await program.port(/successfully on port (\d+)\./) { return (program, port) }
            program.end(SIGKILL)
        }
        throw Failure(description: "chromedriver does not start")
    }

    /// The name of a new session of the driver.
    private static func session(_ driver: TestBrowser, _ options: [String: Any]) async throws -> String {
        let made = try await send(
            driver, "POST", "/session",
            ["capabilities": ["alwaysMatch": ["goog:loggingPrefs": ["browser": "ALL"], "goog:chromeOptions": options]]])
        guard let id = (made as? [String: Any])?["sessionId"] as? String else {
            throw Failure(description: "no session: \(made)")
        }
        return id
    }

    /// Ends the browser.
    package func quit() async {
        _ = try? await send("DELETE", "")
        program.end(SIGTERM)
        try? FileManager.default.removeItem(at: folder)
    }

    /// Runs a test with a browser, and ends it whatever happens.
    package static func run(_ screen: Screen = .phone, _ test: (Chrome) async throws -> Void) async throws {
        let chrome = try await Chrome(screen)
        do { try await test(chrome) } catch {
            await chrome.quit()
            throw error
        }
        await chrome.quit()
    }

    @discardableResult private static func send(
        _ driver: TestBrowser, _ method: String, _ path: String, _ body: [String: Any]?
    ) async throws -> Any {
        let json = try body.map { try JSONSerialization.data(withJSONObject: $0) } ?? Data()
        let answer = try await driver.send(method, path, ["Content-Type": "application/json"], json)
        let value = ((try? JSONSerialization.jsonObject(with: answer.body)) as? [String: Any])?["value"] ?? NSNull()
        guard answer.status == 200 else {
            throw Failure(
                description: "\(method) \(path): \((value as? [String: Any])?["message"] ?? "status \(answer.status)")")
        }
        return value
    }

    /// Has the driver do something in this browser.
    @discardableResult private func send(
        _ method: String, _ path: String, _ body: [String: Any]? = nil
    ) async throws -> Any {
        try await Self.send(driver, method, "/session/\(session)\(path)", body)
    }

    @discardableResult package func command(_ name: String, _ parameters: [String: Any]) async throws -> Any {
        try await send("POST", "/goog/cdp/execute", ["cmd": name, "params": parameters])
    }

    package func go(_ address: String) async throws { try await send("POST", "/url", ["url": address]) }

    /// Opens another window of the same browser, and goes on in it.
    ///
    /// - Returns: the window's name, for ``show(_:)``.
    package func openWindow() async throws -> String {
        let made = try await send("POST", "/window/new", ["type": "window"])
        guard let name = (made as? [String: Any])?["handle"] as? String else {
            throw Failure(description: "no window: \(made)")
        }
        try await show(name)
        return name
    }

    /// Goes on in another window.
    package func show(_ window: String) async throws { try await send("POST", "/window", ["handle": window]) }

    /// What a script returns; what is given stands in `arguments`.
    @discardableResult package func script(_ text: String, _ arguments: [Any] = []) async throws -> Any {
        try await send("POST", "/execute/sync", ["script": text, "args": arguments])
    }

    package func text(_ selector: String) async throws -> String {
        let text = try await script("return document.querySelector(arguments[0])?.innerText ?? ''", [selector])
        return (text as? String ?? "").replacing(/\s+/, with: " ")
    }

    package func number(_ text: String) async throws -> Int {
        (try await script("return " + text) as? NSNumber)?.intValue ?? -1
    }

    /// Waits until the expression holds, for thirty seconds.
    package func wait(_ expression: String) async throws {
        let holds = try await Polling.holds(within: 30) {
            (try? await script("return !!(\(expression))")) as? Bool == true
        }
        if holds { return }
        throw Failure(description: "does not come true: \(expression); the page has: \(try await text("body"))")
    }

    /// Waits until the page has the text.
    package func waitFor(_ text: String) async throws {
        let json = String(decoding: try JSONEncoder().encode([text]), as: UTF8.self)
        try await wait("document.body.innerText.replace(/\\s+/g, ' ').includes(\(json)[0])")
    }

    /// Clicks as a user does: in the middle of the element.
    package func click(_ selector: String) async throws {
        // A driver scrolls as little as it can, and leaves it behind the bar.
        try await script("document.querySelector(arguments[0])?.scrollIntoView({block: 'center'})", [selector])
        try await send("POST", "/element/\(try await element(selector))/click", [:])
    }

    package func type(_ text: String, into selector: String) async throws {
        try await send("POST", "/element/\(try await element(selector))/value", ["text": text])
    }

    private func element(_ selector: String) async throws -> String {
        let found = try await send("POST", "/element", ["using": "css selector", "value": selector])
        guard let id = (found as? [String: Any])?.values.first as? String else {
            throw Failure(description: "there is no \(selector)")
        }
        return id
    }

    /// Presses keys one after the other, where the focus is; `with` is held meanwhile.
    package func press(_ keys: String..., with modifier: String? = nil) async throws {
        var actions: [[String: Any]] = []
        if let modifier { actions.append(["type": "keyDown", "value": modifier]) }
        for key in keys { actions += [["type": "keyDown", "value": key], ["type": "keyUp", "value": key]] }
        if let modifier { actions.append(["type": "keyUp", "value": modifier]) }
        try await send(
            "POST", "/actions", ["actions": [["type": "key", "id": "keys", "actions": actions]]])
    }

    /// What the browser complained of.
    package func complaints() async throws -> [String] {
        let entries = try await send("POST", "/se/log", ["type": "browser"]) as? [[String: Any]] ?? []
        return entries.filter { $0["level"] as? String == "SEVERE" }.compactMap { $0["message"] as? String }
    }

    /// Writes a picture of what is seen.
    package func picture(_ name: String) async throws {
        let text = try await send("GET", "/screenshot") as? String ?? ""
        try FileManager.default.createDirectory(at: Self.pictures, withIntermediateDirectories: true)
        try Data(base64Encoded: text)?.write(to: Self.pictures.appendingPathComponent("\(name).png"))
    }
}

/// Keys as WebDriver names them.
package enum Key {
    package static let down = "\u{E015}"
    package static let up = "\u{E013}"
    package static let delete = "\u{E017}"
    package static let enter = "\u{E007}"
    package static let escape = "\u{E00C}"
    package static let control = "\u{E009}"
    package static let shift = "\u{E008}"
}
