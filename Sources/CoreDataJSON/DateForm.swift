import Foundation

/// Dates as ISO 8601 in UTC, with as many digits of a second as the date needs to be read back as the same value.
///
///     DateForm.text(date)                             // "2024-05-01T10:00:00Z", "2024-05-01T10:00:00.25Z"
///     DateForm.date("2024-05-01T12:00:00+02:00")      // the same moment
public enum DateForm {
    /// The days from 0001-01-01 to 2001-01-01, the reference date.
    private static let daysBefore2001 = 730_485
    private static let secondsPerDay = 86_400.0
    /// Dates of years 1 to 9999, which ISO 8601 has without an agreement.
    public static let range = -63_113_904_000.0..<252_423_993_600.0

    /// Returns the text; `nil` for a date outside of the years 1 to 9999.
    public static func text(_ date: Date) -> String? {
        let seconds = date.timeIntervalSinceReferenceDate
        guard range.contains(seconds) else { return nil }
        let (whole, digits) = parts(of: seconds)
        let day = (whole / secondsPerDay).rounded(.down)
        let time = Int(whole - day * secondsPerDay)
        let (year, month, dayOfMonth) = civil(Int(day) + daysBefore2001)
        let fraction = digits.isEmpty ? "" : ".\(digits)"
        return
            "\(padded(year, 4))-\(padded(month, 2))-\(padded(dayOfMonth, 2))T\(padded(time / 3600, 2)):"
            + "\(padded(time / 60 % 60, 2)):\(padded(time % 60, 2))\(fraction)Z"
    }

    /// Returns the date of a text: a date with time and zone, or a day alone, which is its beginning in UTC.
    public static func date(_ text: String) -> Date? {
        guard text.utf8.count <= 64,
            let match = text.wholeMatch(
                of: /(\d{4})-(\d\d)-(\d\d)(?:[Tt ](\d\d):(\d\d)(?::(\d\d)(?:[.,](\d{1,20}))?)?(Z|z|[+-]\d\d:?\d\d)?)?/)
        else { return nil }
        let parts = match.output
        guard let year = Int(parts.1), let month = Int(parts.2), let day = Int(parts.3), year > 0,
            (1...12).contains(month), day >= 1, day <= days(in: month, of: year)
        else { return nil }
        let hour = parts.4.flatMap { Int($0) } ?? 0
        let minute = parts.5.flatMap { Int($0) } ?? 0
        let second = parts.6.flatMap { Int($0) } ?? 0
        guard hour < 24, minute < 60, second < 60 else { return nil }
        // A time without a zone has no meaning that both sides share.
        if parts.4 != nil, parts.8 == nil { return nil }
        var offset = 0
        if let zone = parts.8, zone != "Z", zone != "z" {
            let numbers = zone.filter(\.isNumber)
            guard let hours = Int(numbers.prefix(2)), let minutes = Int(numbers.suffix(2)), hours < 24, minutes < 60
            else { return nil }
            offset = (hours * 60 + minutes) * 60 * (zone.hasPrefix("-") ? -1 : 1)
        }
        let dayNumber = dayNumber(year, month, day) - daysBefore2001
        let whole = Double(dayNumber) * secondsPerDay + Double(hour * 3600 + minute * 60 + second - offset)
        let result = seconds(whole, parts.7.map(String.init) ?? "")
        guard range.contains(result) else { return nil }
        return Date(timeIntervalSinceReferenceDate: result)
    }

    /// The greatest number of digits of a second: 10 to its power is a 64-bit integer.
    private static let maximumDigits = 18

    /// Splits seconds into whole ones, downwards, and the fewest digits of the rest with which ``seconds(_:_:)``
    /// returns the same seconds; without digits for a moment so close to a second that no digits tell it apart.
    private static func parts(of seconds: Double) -> (whole: Double, digits: String) {
        let magnitude = abs(seconds)
        guard magnitude != magnitude.rounded() else { return (seconds, "") }
        for count in 1...maximumDigits {
            let text = String(format: "%.\(count)f", magnitude)
            guard Double(text) == magnitude else { continue }
            let parts = text.split(separator: ".")
            guard let whole = Double(parts[0]) else { break }
            if seconds > 0 { return (whole, String(parts[1])) }
            return (-whole - 1, complement(of: String(parts[1])))
        }
        return (seconds.rounded(), "")
    }

    /// What is missing to a whole second: of "25" it is "75".
    private static func complement(of digits: String) -> String {
        let one = (0..<digits.count).reduce(1 as UInt64) { power, _ in power * 10 }
        let text = String(one - (UInt64(digits) ?? 0))
        return String(repeating: "0", count: max(0, digits.count - text.count)) + text
    }

    private static func seconds(_ whole: Double, _ digits: String) -> Double {
        let digits = String(digits.prefix(maximumDigits))
        guard digits.contains(where: { $0 != "0" }) else { return whole }
        // As one number, so that it is rounded once.
        if whole >= 0 { return Double("\(Int64(whole)).\(digits)") ?? whole }
        return Double("-\(-Int64(whole) - 1).\(complement(of: digits))") ?? whole
    }

    private static func padded(_ number: Int, _ width: Int) -> String {
        let text = String(number)
        return String(repeating: "0", count: max(0, width - text.count)) + text
    }

    // MARK: The calendar

    private static func isLeap(_ year: Int) -> Bool { year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) }

    private static func days(in month: Int, of year: Int) -> Int {
        switch month {
        case 2: isLeap(year) ? 29 : 28
        case 4, 6, 9, 11: 30
        default: 31
        }
    }

    /// The days from 0001-01-01 to a day.
    private static func dayNumber(_ year: Int, _ month: Int, _ day: Int) -> Int {
        let before = year - 1
        var number = before * 365 + before / 4 - before / 100 + before / 400
        for past in 1..<max(month, 1) { number += days(in: past, of: year) }
        return number + day - 1
    }

    private static func civil(_ number: Int) -> (year: Int, month: Int, day: Int) {
        var year = number / 366 + 1
        while dayNumber(year + 1, 1, 1) <= number { year += 1 }
        var rest = number - dayNumber(year, 1, 1)
        var month = 1
        while rest >= days(in: month, of: year) {
            rest -= days(in: month, of: year)
            month += 1
        }
        return (year, month, rest + 1)
    }
}
