import Foundation

/// Dates as ISO 8601 in UTC, with the number of decimal places that identifies the stored number.
///
///     DateText.text(Date(timeIntervalSinceReferenceDate: 0))          // 2001-01-01T00:00:00Z
///     DateText.text(Date(timeIntervalSinceReferenceDate: 0.25))       // 2001-01-01T00:00:00.25Z
///
/// All times use the Gregorian calendar, as ISO 8601 requires. Only `Date.distantPast` is written and read as the
/// beginning of the year 1, its date in Foundation's calendar, which is Julian before 1582.
package enum DateText {
    private static let distantPast = "0001-01-01T00:00:00Z"

    package static func text(_ date: Date) -> String {
        if date == .distantPast { return distantPast }
        let seconds = date.timeIntervalSinceReferenceDate
        guard seconds.isFinite, abs(seconds) < 1e11 else { return String(seconds) }
        for digits in [0, 3, 6, 9, 12] {
            let text = text(seconds, digits: digits)
            if Self.date(text)?.timeIntervalSinceReferenceDate == seconds { return text }
        }
        return text(seconds, digits: 15)
    }

    /// Parses `2024-05-01`, `2024-05-01T12:30Z`, `2024-05-01 12:30:05.25+02:00`; the default zone is UTC.
    package static func date(_ text: String) -> Date? {
        if text == distantPast || text == distantPast.prefix(10) { return .distantPast }
        var parts = DateParts(text)
        let isBeforeYearZero = parts.skip("-")
        guard let digits = parts.number(4...6), parts.skip("-"), let month = parts.number(2...2), parts.skip("-"),
            let day = parts.number(2...2)
        else { return nil }
        let year = isBeforeYearZero ? -digits : digits
        guard (1...12).contains(month), day >= 1, day <= daysInMonth(month, year: year) else { return nil }
        let days = Double(daysSinceReference(year, month, day))
        if parts.isAtEnd { return Date(timeIntervalSinceReferenceDate: days * 86_400) }
        guard parts.skip("T") || parts.skip(" "), let hour = parts.number(2...2), parts.skip(":"),
            let minute = parts.number(2...2), hour < 24, minute < 60
        else { return nil }
        var seconds = days * 86_400 + Double(hour * 3600 + minute * 60)
        var fraction = 0.0
        if parts.skip(":") {
            guard let second = parts.number(2...2), second < 60, let rest = parts.fraction() else { return nil }
            seconds += Double(second)
            fraction = rest
        }
        guard let offset = parts.offset(), parts.isAtEnd else { return nil }
        return Date(timeIntervalSinceReferenceDate: seconds - Double(offset) + fraction)
    }

    private static func text(_ time: Double, digits: Int) -> String {
        let scale = pow(10, Double(digits))
        var whole = time.rounded(.down)
        var fraction = ((time - whole) * scale).rounded()
        if fraction >= scale {
            whole += 1
            fraction = 0
        }
        let seconds = Int(whole)
        let days = (Double(seconds) / 86_400).rounded(.down)
        let rest = seconds - Int(days) * 86_400
        let (year, month, day) = civil(daysSinceReference: Int(days))
        let clock = [rest / 3600, rest / 60 % 60, rest % 60].map { padded($0, 2) }.joined(separator: ":")
        var text = "\(padded(year, 4))-\(padded(month, 2))-\(padded(day, 2))T\(clock)"
        if digits > 0, fraction > 0 {
            let decimals = padded(Int(fraction), digits)
            text += "." + String(decimals.reversed().drop { $0 == "0" }.reversed())
        }
        return text + "Z"
    }

    private static func padded(_ number: Int, _ width: Int) -> String {
        let digits = String(number.magnitude)
        return (number < 0 ? "-" : "") + String(repeating: "0", count: max(0, width - digits.count)) + digits
    }

    private static func daysInMonth(_ month: Int, year: Int) -> Int {
        let isLeap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
        return month == 2 ? (isLeap ? 29 : 28) : [4, 6, 9, 11].contains(month) ? 30 : 31
    }

    // Days from civil date and back in the Gregorian calendar, counted in eras of 400 years that begin in March.

    private static func daysSinceReference(_ year: Int, _ month: Int, _ day: Int) -> Int {
        let year = month <= 2 ? year - 1 : year
        let era = (year >= 0 ? year : year - 399) / 400
        let yearOfEra = year - era * 400
        let dayOfYear = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1
        let dayOfEra = yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear
        return era * 146_097 + dayOfEra - 730_791
    }

    private static func civil(daysSinceReference days: Int) -> (year: Int, month: Int, day: Int) {
        let days = days + 730_791
        let era = (days >= 0 ? days : days - 146_096) / 146_097
        let dayOfEra = days - era * 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let shifted = (5 * dayOfYear + 2) / 153
        let month = shifted < 10 ? shifted + 3 : shifted - 9
        return (yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month, dayOfYear - (153 * shifted + 2) / 5 + 1)
    }
}

/// A parser for the text of a date, from left to right.
private struct DateParts {
    private var rest: Substring.UTF8View

    init(_ text: String) { rest = text[...].utf8 }

    var isAtEnd: Bool { rest.isEmpty }

    mutating func skip(_ character: Character) -> Bool {
        guard rest.first == character.asciiValue else { return false }
        rest = rest.dropFirst()
        return true
    }

    mutating func number(_ lengths: ClosedRange<Int>) -> Int? {
        let digits = rest.prefix { $0 >= 0x30 && $0 <= 0x39 }
        guard lengths.contains(digits.count) else { return nil }
        rest = rest.dropFirst(digits.count)
        return digits.reduce(0) { $0 * 10 + Int($1 - 0x30) }
    }

    /// Parses `.25` or nothing; `nil` for a point without digits.
    mutating func fraction() -> Double? {
        guard skip(".") else { return 0 }
        let digits = rest.prefix { $0 >= 0x30 && $0 <= 0x39 }
        rest = rest.dropFirst(digits.count)
        return digits.isEmpty ? nil : Double("0." + String(Substring(digits)))
    }

    /// Parses the offset from UTC in seconds, east positive: `Z`, `+02:00`, `-0130`, or nothing.
    mutating func offset() -> Int? {
        if isAtEnd || skip("Z") || skip("z") { return 0 }
        let sign = skip("-") ? -1 : 1
        guard sign < 0 || skip("+") else { return nil }
        if let both = number(4...4) { return sign * (both / 100 * 3600 + both % 100 * 60) }
        guard let hours = number(2...2), skip(":"), let minutes = number(2...2) else { return nil }
        return sign * (hours * 3600 + minutes * 60)
    }
}
