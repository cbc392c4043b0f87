import Testing

@testable import CoreDataService

@Suite struct HeaderTests {
    @Test(arguments: [
        ("bytes=0-1", 10, ByteRange.part(0..<2)), ("bytes=5-", 10, .part(5..<10)), ("bytes=-3", 10, .part(7..<10)),
        ("bytes=-30", 10, .part(0..<10)), ("bytes=0-99", 10, .part(0..<10)), ("bytes=10-", 10, .outside),
        ("bytes=-0", 10, .outside), ("bytes=-1", 0, .outside), ("bytes=0-", 0, .outside), ("bytes=2-1", 10, .whole),
        ("bytes=0-1,3-4", 10, .whole), ("items=0-1", 10, .whole), ("bytes=-", 10, .whole),
        ("bytes=999999999999999999-", 10, .outside), ("bytes=0-999999999999999999", 10, .part(0..<10)),
    ])
    func ranges(_ header: String, _ count: Int, _ expected: ByteRange) {
        #expect(ByteRange(header, of: count) == expected)
    }

    @Test(arguments: [("\"a\"", ["a"]), ("W/\"a\", \"b\"", ["a", "b"]), ("*", []), ("\"\"", [""])])
    func tags(_ header: String, _ expected: [String]) {
        #expect(TagList(header)?.tags == expected)
    }

    @Test(arguments: ["", "a", "\"a", "\"a\" b", ",", "\""])
    func noTags(_ header: String) { #expect(TagList(header) == nil) }

    @Test func aTagOfAnAnswerWithOtherObjectsMatchesItsRow() {
        #expect(TagList("\"5f-77\"")?.containsRow("5f") ?? false)
        #expect(!(TagList("\"5f-77\"")?.containsRow("5") ?? true))
        #expect(!(TagList("\"5f-77\"")?.contains("5f") ?? true))
    }

    /// Weak tags count for `If-None-Match`, and not for `If-Match`.
    @Test func aWeakTagNeverMatchesARowThatChanges() throws {
        let list = try #require(TagList("W/\"5f\", \"60\""))
        #expect(list.contains("5f") && !list.containsRow("5f") && list.containsRow("60"))
        #expect(!list.isWeak && (TagList("W/\"5f\"")?.isWeak ?? false) && !(TagList("*")?.isWeak ?? true))
    }

    @Test(arguments: ["", "k1", "6f997b6b-0000-4000-8000-00000000000", "\"k1\"", "6f997b6b00004000800000000000000001"])
    func aKeyThatIsNoUUIDIsRefused(_ key: String) {
        #expect(throws: Problem.self) { try RequestKey(key, caller: "a", method: "POST", path: "/", body: []) }
    }

    @Test func aKeyIsTheSameInEverySpelling() throws {
        let id = "6f997b6b-0000-4000-8000-00000000000a"
        let notes = try [id, id.uppercased(), "\"\(id)\""].map {
            try RequestKey($0, caller: "a", method: "POST", path: "/", body: []).note
        }
        #expect(Set(notes).count == 1)
    }

    @Test func metricsAreInPrometheusText() {
        let metrics = Metrics()
        #expect(metrics.begin(limit: 1))
        #expect(!metrics.begin(limit: 1))
        metrics.note("GET", "/api/{entity}", 200, .milliseconds(3))
        metrics.end()
        let lines = metrics.text.split(separator: "\n").map(String.init)
        #expect(lines.contains("http_requests_total{method=\"GET\",route=\"/api/{entity}\",status=\"200\"} 1"))
        #expect(lines.contains("http_request_duration_seconds_bucket{route=\"/api/{entity}\",le=\"0.001\"} 0"))
        #expect(lines.contains("http_request_duration_seconds_bucket{route=\"/api/{entity}\",le=\"0.005\"} 1"))
        #expect(lines.contains("http_requests_refused_total 1"))
        #expect(lines.contains("http_requests_in_flight 0"))
    }
}
