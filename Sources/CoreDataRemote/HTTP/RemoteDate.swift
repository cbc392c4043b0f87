import Foundation

/// Parses dates in servers' formats.
package enum RemoteDate {
    /// Parses "2026-11-23T08:30:05.000Z".
    package static func iso(_ text: String?) -> Date? {
        guard let text else { return nil }
        return (try? Date.ISO8601FormatStyle(includingFractionalSeconds: true).parse(text))
            ?? (try? Date.ISO8601FormatStyle().parse(text))
    }

    /// Parses "Mon, 23 Nov 2026 08:30:05 GMT".
    package static func http(_ text: String?) -> Date? {
        let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
        guard let match = text?.firstMatch(of: /(\d{1,2}) (\w{3}) (\d{4}) (\d\d):(\d\d):(\d\d) GMT/),
            let month = months.firstIndex(of: String(match.output.2)), let day = Int(match.output.1),
            let year = Int(match.output.3), let hour = Int(match.output.4), let minute = Int(match.output.5),
            let second = Int(match.output.6)
        else { return nil }
        var calendar = Calendar(identifier: .gregorian)
        calendar.timeZone = .gmt
        return calendar.date(
            from: DateComponents(year: year, month: month + 1, day: day, hour: hour, minute: minute, second: second))
    }
}
