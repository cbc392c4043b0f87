import Foundation
import LivePages
import LivePagesTesting
import Synchronization
import Testing

@testable import GroceryDude

/// How long a change takes from a tap to all open pages: 200 of them, 50 edits a second.
///
/// `make bench-web` runs it and prints what it measures; it is no test, and never runs with the tests.
@Suite(.serialized, .timeLimit(.minutes(10)), .enabled(if: Load.isAsked, "make bench-web measures"))
struct LoadBenchmark {
    @Test func fromATapToAllPages() async throws {
        let folder = try TestServer.temporaryFolder()
        defer { try? FileManager.default.removeItem(at: folder) }
        let app = try TestServer.otherProcess(
            store: folder.appendingPathComponent("Test.sqlite"), ["--demo"], at: Load.app)
        defer { app.end() }
        let browser = TestBrowser(port: try await app.port())
        try await measurePage(browser)

        let page = try await browser.get("/prepare")
        let items = page.text.matches(of: /<li id=i(\d+)/).compactMap { Int($0.output.1) }
        let position = String(try #require(page.text.firstMatch(of: /data-at="([^"]+)"/)).output.1)
        let pages = try OpenPages(count: Load.pages, browser, after: position)
        pages.begin()
        // The small pictures of the demo are made at first.
        try await pages.waitUntilQuiet()
        let before = app.memory
        let (sent, answers) = try await edit(items, browser)
        // What has not come by then counts as lost.
        try await Task.sleep(for: .seconds(1))
        let heard = pages.end()

        // Of each tap, when each page heard of it first.
        var first: [Int: [Int: Double]] = [:]
        for event in heard {
            guard let tapped = sent[event.item], event.time >= tapped else { continue }
            let delay = event.time - tapped
            first[event.page, default: [:]][event.item] = min(delay, first[event.page]?[event.item] ?? delay)
        }
        let delays = first.values.flatMap(\.values)
        #expect(delays.count == sent.count * Load.pages)
        print("\(sent.count) edits, \(Load.rate) a second, \(Load.pages) pages open")
        print("\(delays.count) of \(sent.count * Load.pages) came to a page before the end, in \(heard.count) rows")
        Load.report("from a tap to a page", delays)
        Load.report("answer to the tap", answers)
        print("memory of the server: \(before / 1000) MB before, \(app.memory / 1000) MB after")
    }

    /// The page of all items, one request after the other.
    private func measurePage(_ browser: TestBrowser) async throws {
        var times: [Double] = []
        var size = 0
        for _ in 0..<100 {
            let start = Load.now
            size = try await browser.get("/prepare").body.count
            times.append(Load.now - start)
        }
        print("the page of 400 items has \(size / 1000) kB")
        Load.report("that page", times)
    }

    /// Ticks one item after the other, in the pace that is asked for; each item once. Returns when each was sent.
    private func edit(_ items: [Int], _ browser: TestBrowser) async throws -> (sent: [Int: Double], answers: [Double]) {
        let count = min(items.count, Load.rate * Load.seconds)
        let token = try await browser.token()
        let (port, start) = (browser.port, Load.now)
        let times = Times()
        await withTaskGroup(of: Void.self) { group in
            for index in 0..<count {
                let due = start + Double(index) / Double(Load.rate)
                group.addTask {
                    try? await Task.sleep(for: .seconds(max(0, due - Load.now)))
                    let tap = TestBrowser(port: port, cookies: ["token": token])
                    let begin = Load.now
                    times.begin(items[index], begin)
                    let answer = try? await tap.post("/prepare", ["i": "\(items[index])"], ["X-Patch": "1"])
                    let end = Load.now
                    if answer?.status == 200 { times.end(end - begin) }
                }
            }
        }
        return times.all
    }

    private final class Times: Sendable {
        private let both = Mutex<(sent: [Int: Double], answers: [Double])>(([:], []))

        var all: (sent: [Int: Double], answers: [Double]) { both.withLock { $0 } }

        func begin(_ item: Int, _ time: Double) { both.withLock { $0.sent[item] = time } }

        func end(_ time: Double) { both.withLock { $0.answers.append(time) } }
    }
}

/// What `make bench-web` asks for.
enum Load {
    private static let environment = ProcessInfo.processInfo.environment
    static let isAsked = environment["BENCH_WEB"]?.isEmpty == false
    /// The app that is measured: built for release.
    static let app = environment["BENCH_WEB"].flatMap { $0.hasPrefix("/") ? URL(fileURLWithPath: $0) : nil }
    static let pages = environment["BENCH_PAGES"].flatMap { Int($0) } ?? 200
    static let rate = environment["BENCH_RATE"].flatMap { Int($0) } ?? 50
    static let seconds = 10

    /// Seconds on a clock that does not jump.
    static var now: Double {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }

    static func report(_ what: String, _ seconds: [Double]) {
        let sorted = seconds.sorted()
        guard !sorted.isEmpty else { return print("\(what): nothing") }
        func at(_ share: Double) -> String {
            String(format: "%.1f ms", sorted[min(sorted.count - 1, Int(Double(sorted.count) * share))] * 1000)
        }
        print("\(what): median \(at(0.5)), p95 \(at(0.95)), p99 \(at(0.99)), most \(at(1)) (\(sorted.count))")
    }
}

/// Streams of many pages, read by one thread that notes when something came, and looks at what it was afterwards.
final class OpenPages: @unchecked Sendable {
    // Safe because the thread alone touches what it reads until it has ended.
    private let sockets: [Socket]
    private var bytes: [Data]
    private var arrivals: [[(end: Int, time: Double)]]
    private let isEnding = Atomic(false)
    /// How often something came.
    private let arrived = Atomic(0)
    private let ended = DispatchSemaphore(value: 0)

    init(count: Int, _ browser: TestBrowser, after position: String) throws {
        sockets = try (0..<count).map { _ in try browser.openEvents("prepare", after: position) }
        bytes = Array(repeating: Data(), count: count)
        arrivals = Array(repeating: [], count: count)
    }

    func begin() {
        Thread.detachNewThread { [self] in
            read()
            ended.signal()
        }
    }

    private func read() {
        var waiting = sockets.map { pollfd(fd: $0.descriptor, events: Int16(POLLIN), revents: 0) }
        var buffer = [UInt8](repeating: 0, count: 65536)
        while !isEnding.load(ordering: .relaxed) {
            guard poll(&waiting, nfds_t(waiting.count), 100) > 0 else { continue }
            for index in waiting.indices where waiting[index].revents != 0 {
                let count = recv(waiting[index].fd, &buffer, buffer.count, 0)
                let time = Load.now
                guard count > 0 else {
                    waiting[index].fd = -1
                    continue
                }
                bytes[index].append(contentsOf: buffer[..<count])
                arrivals[index].append((bytes[index].count, time))
                arrived.add(1, ordering: .relaxed)
            }
        }
    }

    /// Waits until nothing has come for a second, at most half a minute.
    func waitUntilQuiet() async throws {
        for _ in 0..<30 {
            let before = arrived.load(ordering: .relaxed)
            try await Task.sleep(for: .seconds(1))
            if arrived.load(ordering: .relaxed) == before { return }
        }
        throw Polling.Timeout(description: "pages still hear of changes after 30 seconds")
    }

    /// Ends reading; returns which rows came, to which page and when.
    func end() -> [(page: Int, item: Int, time: Double)] {
        isEnding.store(true, ordering: .relaxed)
        ended.wait()
        var events: [(page: Int, item: Int, time: Double)] = []
        let mark = Data("\"id\":\"i".utf8)
        for (page, (data, times)) in zip(bytes, arrivals).enumerated() {
            var (start, next) = (0, 0)
            while let found = data.range(of: mark, in: start..<data.count) {
                start = found.upperBound
                let digits = data[start...].prefix { (0x30...0x39).contains($0) }
                while next < times.count, times[next].end < start { next += 1 }
                guard next < times.count, let item = Int(String(decoding: digits, as: UTF8.self)) else { continue }
                events.append((page, item, times[next].time))
            }
        }
        return events
    }
}
