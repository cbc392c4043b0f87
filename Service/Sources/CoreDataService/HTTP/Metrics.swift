import Synchronization

/// Counts requests, in the text format that Prometheus reads.
///
/// Labels are routes such as `/api/{entity}`, never addresses or values, so their number is bounded.
package final class Metrics: Sendable {
    private struct Key: Hashable {
        var method: String
        var route: String
        var status: Int
    }

    private struct Durations {
        var buckets: [Int]
        var sum = 0.0
        var count = 0
    }

    private struct State {
        var requests: [Key: Int] = [:]
        var durations: [String: Durations] = [:]
        var inFlight = 0
        var refused = 0
    }

    /// Guards the numbers.
    private let state = Mutex(State())
    private let began = ContinuousClock.now
    /// The upper bounds in seconds.
    private static let bounds = [0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]

    package init() {}

    package var inFlight: Int { state.withLock { $0.inFlight } }

    /// Notes that a request began; `false` if more are being answered than the limit.
    package func begin(limit: Int) -> Bool {
        state.withLock { state in
            guard state.inFlight < limit else {
                state.refused += 1
                return false
            }
            state.inFlight += 1
            return true
        }
    }

    package func end() { state.withLock { $0.inFlight -= 1 } }

    package func note(_ method: String, _ route: String, _ status: Int, _ duration: Duration) {
        let seconds = Double(duration.components.seconds) + Double(duration.components.attoseconds) / 1e18
        state.withLock { state in
            state.requests[Key(method: method, route: route, status: status), default: 0] += 1
            var durations = state.durations[route] ?? Durations(buckets: Array(repeating: 0, count: Self.bounds.count))
            for (index, bound) in Self.bounds.enumerated() where seconds <= bound { durations.buckets[index] += 1 }
            durations.sum += seconds
            durations.count += 1
            state.durations[route] = durations
        }
    }

    package var text: String {
        let state = state.withLock { $0 }
        var text = "# HELP http_requests_total Requests that were answered.\n# TYPE http_requests_total counter\n"
        for (key, count) in state.requests.sorted(by: {
            ($0.key.route, $0.key.method, $0.key.status) < ($1.key.route, $1.key.method, $1.key.status)
        }) {
            text +=
                "http_requests_total{method=\"\(key.method)\",route=\"\(key.route)\",status=\"\(key.status)\"} \(count)\n"
        }
        text +=
            "# HELP http_request_duration_seconds Time until the answer began.\n# TYPE http_request_duration_seconds histogram\n"
        for (route, durations) in state.durations.sorted(by: { $0.key < $1.key }) {
            for (bound, count) in zip(Self.bounds, durations.buckets) {
                text += "http_request_duration_seconds_bucket{route=\"\(route)\",le=\"\(bound)\"} \(count)\n"
            }
            text += "http_request_duration_seconds_bucket{route=\"\(route)\",le=\"+Inf\"} \(durations.count)\n"
            text += "http_request_duration_seconds_sum{route=\"\(route)\"} \(durations.sum)\n"
            text += "http_request_duration_seconds_count{route=\"\(route)\"} \(durations.count)\n"
        }
        text +=
            "# HELP http_requests_in_flight Requests that are being answered.\n# TYPE http_requests_in_flight gauge\n"
        text += "http_requests_in_flight \(state.inFlight)\n"
        text += "# HELP http_requests_refused_total Requests that were refused since too many were being answered.\n"
        text += "# TYPE http_requests_refused_total counter\nhttp_requests_refused_total \(state.refused)\n"
        text += "# HELP process_uptime_seconds Time since the service began.\n# TYPE process_uptime_seconds gauge\n"
        text += "process_uptime_seconds \((ContinuousClock.now - began).components.seconds)\n"
        return text
    }
}
