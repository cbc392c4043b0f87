import Foundation

/// Parses dates that are written as text where Xcode writes seconds: `2013-04-05 06:07:08 +0200`,
/// `2013-04-05T06:07:08Z`, `2013-04-05`.
enum DefaultDate {
    /// Returns seconds since 2001-01-01 00:00:00 UTC; `nil` if the text is not a date.
    static func seconds(_ text: String) -> Double? {
        let parts = text.replacing("T", with: " ").split(separator: " ")
        guard let day = parts.first, parts.count <= 3 else { return nil }
        var components = DateComponents()
        guard let date = numbers(day, separator: "-", digits: [4, 2, 2]) else { return nil }
        (components.year, components.month, components.day) = (date[0], date[1], date[2])
        var offset = 0
        if parts.count > 1 {
            var time = parts[1]
            var zone = parts.count > 2 ? parts[2] : ""
            if zone.isEmpty, let start = time.lastIndex(where: { "Z+-".contains($0) }) {
                zone = time[start...]
                time = time[..<start]
            }
            guard let clock = numbers(time, separator: ":", digits: [2, 2, 2]), let shift = shift(zone) else {
                return nil
            }
            (components.hour, components.minute, components.second) = (clock[0], clock[1], clock[2])
            offset = shift
        }
        guard components.isValidDate(in: calendar), let date = calendar.date(from: components) else { return nil }
        return date.timeIntervalSinceReferenceDate - Double(offset)
    }

    private static func numbers(_ text: Substring, separator: Character, digits: [Int]) -> [Int]? {
        let fields = text.split(separator: separator, omittingEmptySubsequences: false)
        guard fields.map(\.utf8.count) == digits, fields.joined().utf8.allSatisfy({ (0x30...0x39).contains($0) }) else {
            return nil
        }
        return fields.compactMap { Int($0) }
    }

    /// Returns the offset from UTC in seconds, east positive: `+0200`, `+02:00`, `Z`, or empty.
    private static func shift(_ zone: Substring) -> Int? {
        if zone.isEmpty || zone == "Z" { return 0 }
        let digits = zone.dropFirst().filter { $0 != ":" }
        guard let sign = zone.first, sign == "+" || sign == "-", digits.utf8.count == 4,
            digits.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let number = Int(digits)
        else { return nil }
        let seconds = (number / 100 * 60 + number % 100) * 60
        return sign == "-" ? -seconds : seconds
    }

    private static let calendar: Calendar = {
        var calendar = Calendar(identifier: .gregorian)
        calendar.timeZone = TimeZone(secondsFromGMT: 0) ?? calendar.timeZone
        return calendar
    }()
}
